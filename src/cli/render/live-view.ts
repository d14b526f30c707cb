/** The tree of what is going on, redrawn in place on a terminal. Ended roots scroll away above it as plain lines. */
import type { Event } from '../../app/index.js';
import { kinIn } from '../../domain/task/lineage.js';
import { HUMAN } from '../../domain/task/task.js';
import { whoText } from '../../views/who.js';
import { columnsOf, endOf } from './columns.js';
import { FOR_YOU, type Narrator } from './narrator.js';
import { fitted, oneLine, type Terminal } from './terminal.js';

interface Node {
  id: string;
  agent: string;
  mark: string;
  note: string;
  since: number;
}

const FRAME_MS = 100;
/** More of a stream than the widest line shows. */
const MAX_NOTE = 500;

export function liveView(terminal: Terminal): Narrator {
  const nodes = new Map<string, Node>();
  const kin = kinIn();
  let drawn = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let open = 0;

  return {
    left(count) {
      if (count === open) return;
      open = count;
      soon();
    },
    /** What is drawn stays where it is; nothing more is drawn. */
    close() {
      clearTimeout(timer);
      if (!closed) draw();
      closed = true;
    },
    text(task, _agent, text) {
      const node = nodes.get(task.id);
      if (node) node.note = ((node.note.startsWith('“') ? node.note : '“') + text).slice(-MAX_NOTE);
      soon();
    },
    event(event) {
      apply(event);
      soon();
    },
    problem(problem, severity) {
      clear();
      terminal.problem(problem, severity);
      soon();
    },
  };

  function apply(event: Event): void {
    const id = event.task;
    if (id === undefined) return;
    kin.see(event);
    const detail = event as unknown as Record<string, unknown>;
    const node = nodes.get(id) ?? { id, agent: event.agent ?? '', mark: '·', note: '', since: Date.now() };
    if (event.agent) node.agent = event.agent === 'nobody' ? '?' : whoText(event.agent);
    if (event.name === 'task.claimed') Object.assign(node, { mark: terminal.colour('yellow', '●'), note: 'thinking' });
    if (event.name === 'task.created')
      Object.assign(node, { mark: terminal.colour('cyan', '○'), note: node.agent === HUMAN ? FOR_YOU : '' });
    if (event.name === 'task.parked') Object.assign(node, { mark: terminal.colour('magenta', '…'), note: 'waits' });
    if (event.name === 'tool.ran') node.note = String(detail['tool']);
    if (event.name === 'model.failed') node.note = String(detail['message']);
    if (event.name === 'task.completed' || event.name === 'task.failed')
      return end(node, event.name === 'task.completed', detail);
    nodes.set(id, node);
  }

  function end(node: Node, ok: boolean, detail: Record<string, unknown>): void {
    const mark = ok ? terminal.colour('green', '✓') : terminal.colour('red', '✗');
    const error = (detail['error'] as { message?: string } | undefined)?.message ?? '';
    if (kin.rootOf(node.id) !== node.id) {
      Object.assign(node, { mark, note: error || `${((Date.now() - node.since) / 1000).toFixed(1)} s` });
      nodes.set(node.id, node);
      return;
    }
    for (const id of nodes.keys()) if (kin.rootOf(id) === node.id) nodes.delete(id);
    clear();
    const head = `${mark} ${terminal.bold(node.agent)} ${node.id}`;
    terminal.say(ok ? `${head} ${terminal.dim(`results/${node.id}.md`)}` : `${head}: ${error}`);
  }

  function soon(): void {
    if (closed) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      draw();
    }, FRAME_MS);
  }

  function draw(): void {
    if (closed) return;
    const all = [...nodes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const room = Math.max(3, terminal.height - 4);
    const lines = all.slice(0, room).map((node) => fitted(lineOf(node), terminal.width - 1));
    if (all.length > room) lines.push(terminal.dim(`… and ${all.length - room} more`));
    if (all.length > 0 && open > all.length) lines.push(terminal.dim(`${open} left`));
    terminal.draw(drawn, lines);
    drawn = lines.length;
  }

  /** Of a streamed answer the end is shown, where the news is. */
  function lineOf(node: Node): string {
    const depth = kin.levelOf(node.id);
    const part = depth === 0 ? node.id : node.id.slice(node.id.lastIndexOf('.') + 1);
    const name = oneLine(part, Math.max(8, terminal.width / 2 - columnsOf(node.agent)));
    const note = node.note.replace(/\s+/g, ' ');
    const room = terminal.width - 1 - depth * 2 - columnsOf(node.agent) - columnsOf(name) - 4;
    const tail = note.startsWith('“') || note.length >= MAX_NOTE ? endOf(note, Math.max(1, room)) : note;
    return `${'  '.repeat(depth)}${node.mark} ${terminal.bold(node.agent)} ${name} ${terminal.dim(tail)}`;
  }

  function clear(): void {
    if (drawn > 0) terminal.draw(drawn, []);
    drawn = 0;
  }
}
