/**
 * The tree of open work, redrawn in place on a terminal. Children are drawn under their parents, in
 * the order in which they were created. When a root ends, its tree is removed and one plain line
 * scrolls away above the rest.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Event, Workspace } from '../../app/index.js';
import { lastPart } from '../../views/short-id.js';
import { activity, doingText, elapsedText, spentText, type Working } from './activity.js';
import { columnsOf, endOf } from './columns.js';
import { FOR_YOU, type Narrator } from './narrator.js';
import { oneLine } from './layout.js';
import type { Cursor } from './dock.js';
import type { Terminal } from './terminal.js';

export interface LiveView extends Narrator {
  /**
   * Rows below the tree with the keys that the person can press now. The cursor is placed in them,
   * or hidden.
   */
  footer(rows: readonly string[], cursor?: Cursor): void;
  /** Shows nothing until `resume`: another program has the terminal. */
  suspend(): void;
  resume(): void;
}

export function liveView(terminal: Terminal, verbose = false): LiveView {
  let known: Pick<Workspace, 'store' | 'announce'> | undefined;
  const titles = new Map<string, string>();
  const seen = activity((id) => {
    const task = known?.store.tasks.getOpen(id)?.task;
    if (task !== undefined) titles.set(id, known!.announce(task).title);
    return titles.get(id);
  });
  let timer: NodeJS.Timeout | undefined;
  let ticker: NodeJS.Timeout | undefined = tick();
  let isClosed = false;
  let isSuspended = false;
  let open = 0;
  let below: readonly string[] = [];
  let cursor: Cursor | undefined;
  /** Output that arrived while the view was suspended. */
  const late: (() => void)[] = [];
  const print = (write: () => void): void => void (isSuspended ? late.push(write) : write());

  return {
    know(workspace) {
      known = workspace;
    },
    left(count) {
      if (count === open) return;
      open = count;
      soon();
    },
    footer(rows, place) {
      below = rows;
      cursor = place;
      draw();
    },
    suspend() {
      isSuspended = true;
      clearTimeout(timer);
      timer = undefined;
      terminal.dock([]);
    },
    resume() {
      isSuspended = false;
      for (const write of late.splice(0)) write();
      soon();
    },
    close() {
      clearTimeout(timer);
      clearInterval(ticker);
      ticker = undefined;
      if (!isClosed) terminal.dock([]);
      isClosed = true;
    },
    progress(now) {
      seen.progress(now);
      soon();
    },
    elsewhere: {
      progress(now, turn) {
        seen.progress(now, turn);
        soon();
      },
      turn(turn) {
        seen.turn(turn);
        soon();
      },
      end(turn) {
        seen.gone(turn.task);
        soon();
      },
    },
    event(event) {
      seen.event(event);
      const ends = event.name === 'task.completed' || event.name === 'task.failed';
      if (ends && event.task !== undefined) end(event.task, event);
      soon();
    },
    say(text) {
      print(() => terminal.say(text));
      soon();
    },
    problem(problem, severity) {
      print(() => terminal.problem(problem, severity));
      soon();
    },
  };

  function end(id: string, event: Event): void {
    const task = seen.get(id);
    if (task === undefined || seen.rootOf(id) !== id) {
      // If its root is not shown, nothing would ever remove it again.
      if (task !== undefined && seen.get(seen.rootOf(id)) === undefined) seen.remove(seen.rootOf(id));
      return;
    }
    const ok = event.name === 'task.completed';
    const mark = ok ? terminal.colour('green', '✓') : terminal.colour('red', '✗');
    const title = task.title === '' ? '' : `${oneLine(task.title, MAX_TITLE)} `;
    const took = terminal.dim(`${elapsedText(Date.now() - task.sinceMs)} · ${ok ? `results/${id}.md` : id}`);
    print(() => terminal.say(`${mark} ${terminal.bold(task.agent)} ${title}${ok ? took : `${took}: ${task.note}`}`));
    seen.remove(id);
  }

  /** Elapsed seconds change without an event. */
  function tick(): NodeJS.Timeout {
    const each = setInterval(() => {
      if (seen.tree().some(({ task }) => task.state === 'working')) soon();
    }, INTERVALS.topCheckMs);
    each.unref();
    return each;
  }

  function soon(): void {
    if (isClosed || isSuspended) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      draw();
    }, INTERVALS.frameMs);
  }

  function draw(): void {
    if (isClosed || isSuspended) return;
    const all = seen.tree().filter(({ task }) => task.state !== 'done' || seen.rootOf(task.id) !== task.id);
    const room = Math.max(3, terminal.height - 4 - below.length);
    const lines = all.slice(0, room).map(({ task, depth }) => lineOf(task, depth, terminal, verbose));
    if (all.length > room) lines.push(terminal.dim(`… and ${all.length - room} more`));
    if (all.length > 0 && open > all.length) lines.push(terminal.dim(`${open} left`));
    terminal.dock([...lines, ...below], cursor && { ...cursor, row: cursor.row + lines.length });
  }
}

const MAX_TITLE = 80;

/** Shows the end of a streamed answer, because it is the newest part. */
function lineOf(task: Working, depth: number, terminal: Terminal, verbose: boolean): string {
  const { bold, dim, width } = terminal;
  const short = verbose ? task.id : lastPart(task.id);
  const spent = task.state === 'working' || task.state === 'done' ? ` · ${spentText(task)}` : '';
  const head = `${'  '.repeat(depth)}${markOf(task, terminal)} `;
  const room = Math.max(16, width - depth * 2 - columnsOf(task.agent) - columnsOf(spent) - 8);
  const name = oneLine(task.title === '' ? short : task.title, Math.max(8, Math.floor(room * 0.5)));
  const left = Math.max(6, room - columnsOf(name));
  const doing = task.isYours ? FOR_YOU : task.state === 'failed' ? task.note : doingText(task);
  const note = doing.startsWith('“') ? endOf(doing, left) : oneLine(doing, left);
  return `${head}${bold(task.agent)} ${name} ${dim(`${note === '' ? '' : `· ${note}`}${spent}`)}${verbose ? ` ${dim(short)}` : ''}`;
}

function markOf({ state }: Working, terminal: Terminal): string {
  switch (state) {
    case 'open':
      return terminal.colour('cyan', '○');
    case 'working':
      return terminal.colour('yellow', '●');
    case 'waiting':
      return terminal.colour('magenta', '…');
    case 'done':
      return terminal.colour('green', '✓');
    case 'failed':
      return terminal.colour('red', '✗');
  }
}
