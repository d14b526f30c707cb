/**
 * Prints one line for each event of interest to people, with tasks indented under their parents. On
 * a terminal it shows the running work below these lines. With `--json` it prints every event.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Event, Watchers, Workspace } from '../../app/index.js';
import type { TurnListener } from '../../app/live/follow-turns.js';
import { problemText, type Problem } from '../../domain/problem.js';
import type { LiveTurn } from '../../domain/live-turn.js';
import type { Progress } from '../../domain/progress.js';
import { HUMAN } from '../../domain/task/task.js';
import { lastPart } from '../../views/short-id.js';
import { whoText } from '../../views/who.js';
import { activity, doingText, spentText, type Activity, type Working } from './activity.js';
import { columnsOf, endOf } from './columns.js';
import { fitted, oneLine } from './layout.js';
import type { Terminal } from './terminal.js';

/** Shown next to a task that only a person can end. */
export const FOR_YOU = 'waits for you: guild inbox';

export interface Narrator extends Watchers {
  /** Ends a line that is still open, and removes the progress rows. */
  close(): void;
  /** The number of open tasks has changed. */
  left(open: number): void;
  problem(problem: Problem, severity?: 'error' | 'warning'): void;
  /** A line of the program itself. */
  say(text: string): void;
  /** Where to look up the titles of tasks. */
  know(workspace: Pick<Workspace, 'store' | 'announce'>): void;
  /** Shows turns of other processes: of the task whose words are printed, or all. */
  elsewhere: TurnListener;
}

/** The number of open tasks is shown when there are at least this many. */
const CROWD = 100;
const SPINNER = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
/** Progress takes at most this many rows. */
const MAX_ROWS = 5;

interface Told {
  terminal: Terminal;
  json: boolean;
  verbose?: boolean;
  /** Requests are asked here, so they are not announced. */
  asks?: boolean;
  /** A story for somebody who types no ids: titles only, and more about what the tools found. */
  isStory?: boolean;
}

export interface RunNarrator extends Narrator {
  /** True if the printed text ended with this one, which then need not be printed again. */
  hasShown(text: string): boolean;
  /** Hides the progress rows until `resume`, for a prompt. */
  suspend(): void;
  resume(): void;
  /** One row for each task that is worked on. */
  rows(): string[];
}

/**
 * `streamed`: the task whose words are printed as they arrive. `docks`: false if the caller draws
 * the rows of the progress.
 */
export function narrator(
  told: Told,
  streamed: () => string | undefined = () => undefined,
  { docks = true } = {},
): RunNarrator {
  const { terminal, json, verbose = false, asks = false, isStory = false } = told;
  let known: Pick<Workspace, 'store' | 'announce'> | undefined;
  const titles = new Map<string, string>();
  const titleOf = (id: string): string | undefined => {
    const task = titles.has(id) ? undefined : known?.store.tasks.getOpen(id)?.task;
    if (task !== undefined) titles.set(id, known!.announce(task).title);
    return titles.get(id);
  };
  const seen = activity(titleOf);
  const live = progressRows(terminal, seen, streamed, docks);
  let shown: { of?: string | undefined; text: string } = { text: '' };
  let isOpen = false;
  let ended = 0;
  let printedAt = Date.now();
  const print = (task: string | undefined, line: string): void => {
    endLine();
    terminal.say(`${'  '.repeat(seen.levelOf(task ?? ''))}${line}`);
  };
  const progress = (now: Progress, turn?: LiveTurn): void => {
    if (json || (terminal.quiet && now.task !== streamed())) return;
    seen.progress(now, turn);
    live.start();
    // The words of two turns in a row are two paragraphs.
    if (now.kind === 'thinking' && now.task === streamed()) endLine();
    if (now.kind === 'words' && now.task === streamed()) stream(now.text);
    else if (now.kind === 'result') {
      const found = isStory && now.tool === 'execute_command' && now.rest !== undefined ? [now.line, ...now.rest] : [];
      print(now.task, resultLine(found.length > 0 ? { ...now, line: '' } : now, seen, terminal));
      for (const line of found) print(now.task, terminal.dim(`    ${fitted(line, terminal.width - 8)}`));
    }
    live.draw();
  };
  const isOfTree = (root: string): boolean => root === seen.rootOf(streamed() ?? '');
  return {
    know(workspace) {
      known = workspace;
    },
    close() {
      live.stop();
      endLine();
    },
    progress: (now) => progress(now),
    elsewhere: {
      progress: (now, turn) => isOfTree(now.root) && progress(now, turn),
      turn(turn) {
        if (json || !isOfTree(turn.root)) return;
        const isNew = !seen.get(turn.task)?.isElsewhere;
        seen.turn(turn);
        live.start();
        if (isNew && turn.task === streamed()) stream(turn.words);
        live.draw();
      },
      end(turn) {
        seen.gone(turn.task);
        live.draw();
      },
    },
    rows: live.rows,
    suspend: live.stop,
    resume: live.start,
    left(count) {
      if (json || count < CROWD || ended === 0 || Date.now() - printedAt < INTERVALS.progressMs) return;
      print(undefined, terminal.dim(`${count} left`));
      ended = 0;
      printedAt = Date.now();
    },
    hasShown: (text) => shown.text.trimEnd().endsWith(text.trim()),
    event(event) {
      if (json) return terminal.json(event);
      if (terminal.quiet) return;
      seen.event(event);
      const isEnd = event.name === 'task.completed' || event.name === 'task.failed';
      if (isEnd) ended++;
      const isOwn = event.task === streamed();
      const line = lineOf(event, seen, terminal, { isOwn, verbose, isStory });
      if (asks && event.name === 'task.created' && event.agent === HUMAN) return;
      if (line !== undefined) print(event.task, line);
      // A chat has thousands of tasks, and each frame looks at all tasks that are kept.
      if (isEnd && seen.levelOf(event.task!) === 0) forget(event.task!);
    },
    say(text) {
      endLine();
      terminal.say(text);
    },
    problem(problem, severity) {
      endLine();
      terminal.problem(problem, severity);
    },
  };

  function forget(root: string): void {
    seen.remove(root);
    for (const id of titles.keys()) if (seen.rootOf(id) === root) titles.delete(id);
  }

  function stream(text: string): void {
    if (text === '') return;
    terminal.stream(text);
    if (shown.of !== streamed()) shown = { of: streamed(), text: '' };
    shown.text += text;
    isOpen = !text.endsWith('\n');
  }

  function endLine(): void {
    terminal.endStream();
    if (isOpen && !terminal.live) terminal.stream('\n');
    isOpen = false;
  }
}

/** `· executor read_file notes.md → # Notes`. */
function resultLine(now: Progress & { kind: 'result' }, seen: Activity, terminal: Terminal): string {
  const mark = now.ok ? terminal.dim('·') : terminal.colour('red', '·');
  const argument = seen.get(now.task)?.lastArgument ?? '';
  const head = `${mark} ${terminal.bold(whoText(now.agent))} ${now.tool}${argument === '' ? '' : ` ${argument}`}`;
  const room = Math.max(40, Math.min(terminal.width, 400) - seen.levelOf(now.task) * 2);
  const call = fitted(head, Math.floor(room * 0.6));
  const rest = room - columnsOf(call.replace(/\u0001[^\u0002]*\u0002/g, '')) - 4;
  // JSON is meant for the model.
  return now.line === '' || rest < 10 || /^[{[]/.test(now.line)
    ? call
    : `${call} ${terminal.dim(`→ ${oneLine(now.line, rest)}`)}`;
}

function lineOf(
  event: Event,
  seen: Activity,
  terminal: Terminal,
  { isOwn, verbose, isStory }: { isOwn: boolean; verbose: boolean; isStory: boolean },
): string | undefined {
  // A task that is offered has no agent yet.
  const named = event.agent === undefined || event.agent === 'nobody' ? '' : whoText(event.agent);
  const agent = named === '' ? '' : `${terminal.bold(named)} `;
  const id = event.task ?? '';
  const short = verbose ? id : lastPart(id);
  const title = titleText(seen.get(id), terminal);
  const about = isStory && !verbose && title !== '' ? title.trimEnd() : `${title}${terminal.dim(short)}`;
  const detail = event as unknown as Record<string, unknown>;
  switch (event.name) {
    case 'task.created':
      if (isOwn) return undefined;
      return `${terminal.colour('cyan', '+')} ${agent}${about}${named === HUMAN ? ` ${isStory ? 'waits for you' : FOR_YOU}` : ''}`;
    case 'task.completed':
      return isOwn ? undefined : `${terminal.colour('green', '✓')} ${agent}${about}`;
    case 'task.failed': {
      const error = detail['error'] as Problem | undefined;
      // `guild run` prints the problem of its own task itself.
      if (isOwn) return undefined;
      return `${terminal.colour('red', '✗')} ${agent}${about}${error === undefined ? '' : `: ${problemText(error)}`}`;
    }
    case 'task.parked':
      return isOwn ? undefined : `${terminal.colour('magenta', '…')} ${agent}waits: ${about}`;
    case 'task.recovered':
      return `${terminal.colour('yellow', '↻')} ${agent}${about} continues after its process was lost`;
    case 'session.edited':
      return `${terminal.colour('yellow', '✎')} ${agent}continues from your edit of its session`;
    case 'session.repinned':
      return `${terminal.colour('yellow', 'i')} ${agent}continues with its changed file`;
    case 'human.notified':
      return `${terminal.colour('yellow', 'i')} ${agent}${String(detail['tool'])} ${oneLine(JSON.stringify(detail['action']), terminal.width - 30)}`;
    case 'model.failed': {
      // The last failure ends the task and is printed with it.
      if (detail['wait_ms'] === undefined) return undefined;
      const wait = Number(detail['wait_ms']);
      const next = wait > 0 ? `retrying in ${(wait / 1000).toFixed(0)} s` : 'trying the next model';
      return `${terminal.colour('yellow', '!')} ${agent}${String(detail['message'])}; ${next}`;
    }
    default:
      return undefined;
  }
}

const MAX_TITLE = 60;

function titleText(task: Working | undefined, terminal: Terminal): string {
  if (task === undefined || task.title === '') return '';
  return `${oneLine(task.title, Math.min(MAX_TITLE, Math.max(12, terminal.width - 30)))} `;
}

/** One row for each task that is worked on, with a spinner, the time and the cost. */
function progressRows(terminal: Terminal, seen: Activity, streamed: () => string | undefined, docks: boolean) {
  let timer: NodeJS.Timeout | undefined;
  let turn = 0;
  let isDrawn = false;
  const rowsNow = (): string[] => {
    const working = seen.tree().flatMap(({ task }) => (task.state === 'working' ? [task] : []));
    const spin = terminal.colour('cyan', SPINNER[turn % SPINNER.length]!);
    const rows = working.slice(0, MAX_ROWS).map((task) => workingRow(task, spin, terminal, task.id === streamed()));
    if (working.length > MAX_ROWS) rows.push(terminal.dim(`  and ${working.length - MAX_ROWS} more`));
    turn++;
    return rows;
  };
  const draw = (): void => {
    if (timer === undefined) return;
    const rows = rowsNow();
    if (rows.length > 0 || isDrawn) terminal.dock(rows);
    isDrawn = rows.length > 0;
  };
  return {
    draw,
    rows: rowsNow,
    start() {
      if (!terminal.live || !docks || timer !== undefined) return;
      timer = setInterval(draw, INTERVALS.frameMs);
      timer.unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
      if (isDrawn) terminal.dock([]);
      isDrawn = false;
    },
  };
}

/** `⠋ executor Check Redis · execute_command podman ps · 12 s · 1.2k tokens`. */
function workingRow(task: Working, spin: string, terminal: Terminal, isStreamed = false): string {
  const spent = spentText(task);
  const doing = isStreamed && task.words !== '' ? 'answering' : doingText(task);
  const room = terminal.width - columnsOf(spent) - columnsOf(task.agent) - 9;
  const title = task.title === '' ? '' : oneLine(task.title, Math.max(8, Math.floor(room * 0.45)));
  const left = Math.max(8, room - columnsOf(title));
  const shown = doing.startsWith('“') ? endOf(doing, left) : oneLine(doing, left);
  return `${spin} ${terminal.bold(task.agent)} ${title} ${terminal.dim(`· ${shown} · ${spent}`)}`;
}
