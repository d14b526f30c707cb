/**
 * The tree of open work, redrawn in place on a terminal. Children are drawn under their parents, in
 * the order in which they were created. When a root ends, its tree is removed and one plain line
 * scrolls away above the rest.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Event } from '../../app/index.js';
import { kinIn } from '../../domain/task/lineage.js';
import { HUMAN } from '../../domain/task/task.js';
import { whoText } from '../../views/who.js';
import { columnsOf, endOf } from './columns.js';
import { FOR_YOU, type Narrator } from './narrator.js';
import { fitted, oneLine } from './layout.js';
import type { Terminal } from './terminal.js';

interface Node {
  id: string;
  agent: string;
  mark: string;
  note: string;
  since: number;
}

/** More of a stream than the widest line shows. */
const MAX_NOTE = 500;
/**
 * Events that add a task to the screen. All others only update shown tasks, so that a cancelled
 * task does not reappear.
 */
const OPENS = new Set<Event['name']>(['task.created', 'task.claimed', 'task.parked', 'task.recovered', 'task.retried']);

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
    /** The last frame stays on the screen. */
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
    const ends = event.name === 'task.completed' || event.name === 'task.failed';
    const node = nodes.get(id) ?? (ends || OPENS.has(event.name) ? newNode(id) : undefined);
    if (node === undefined) return;
    if (event.agent) node.agent = event.agent === 'nobody' ? '?' : whoText(event.agent);
    if (ends) return end(node, event);
    const change = changeBy(event, node, terminal);
    if (change) Object.assign(node, change);
    nodes.set(id, node);
  }

  function end(node: Node, event: Event): void {
    const ok = event.name === 'task.completed';
    const mark = ok ? terminal.colour('green', '✓') : terminal.colour('red', '✗');
    const error = (event['error'] as { message?: string } | undefined)?.message ?? '';
    const root = kin.rootOf(node.id);
    if (root !== node.id) {
      Object.assign(node, { mark, note: error || `${((Date.now() - node.since) / 1000).toFixed(1)} s` });
      // Under a root that is not shown, nothing would ever remove it again.
      if (nodes.has(root)) nodes.set(node.id, node);
      else nodes.delete(node.id);
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
    }, INTERVALS.frameMs);
  }

  function draw(): void {
    if (closed) return;
    const all = treeOrder(nodes, kin.parentOf);
    const room = Math.max(3, terminal.height - 4);
    const lines = all
      .slice(0, room)
      .map(({ node, depth }) => fitted(lineOf(node, depth, terminal), terminal.width - 1));
    if (all.length > room) lines.push(terminal.dim(`… and ${all.length - room} more`));
    if (all.length > 0 && open > all.length) lines.push(terminal.dim(`${open} left`));
    terminal.draw(drawn, lines);
    drawn = lines.length;
  }

  function clear(): void {
    if (drawn > 0) terminal.draw(drawn, []);
    drawn = 0;
  }
}

function newNode(id: string): Node {
  return { id, agent: '', mark: '·', note: '', since: Date.now() };
}

/** The changes that an event makes to the line of its task. */
function changeBy(event: Event, node: Node, terminal: Terminal): Partial<Node> | undefined {
  switch (event.name) {
    case 'task.created':
    case 'task.retried':
      return { mark: terminal.colour('cyan', '○'), note: node.agent === HUMAN ? FOR_YOU : '' };
    case 'task.claimed':
      return { mark: terminal.colour('yellow', '●'), note: 'thinking' };
    case 'task.parked':
      return { mark: terminal.colour('magenta', '…'), note: 'waits' };
    case 'tool.ran':
      return { note: String(event['tool']) };
    case 'model.failed':
      return { note: String(event['message']) };
    default:
      return undefined;
  }
}

/** Parents before their children. The depth counts the ancestors that are shown. */
function treeOrder(
  nodes: ReadonlyMap<string, Node>,
  parentOf: (id: string) => string | undefined,
): { node: Node; depth: number }[] {
  const roots: Node[] = [];
  const children = new Map<string, Node[]>();
  for (const node of nodes.values()) {
    const parent = parentOf(node.id) ?? '';
    if (!nodes.has(parent)) roots.push(node);
    else if (children.get(parent)?.push(node) === undefined) children.set(parent, [node]);
  }
  const below = (node: Node, depth: number): { node: Node; depth: number }[] => [
    { node, depth },
    ...(children.get(node.id) ?? []).flatMap((child) => below(child, depth + 1)),
  ];
  return roots.flatMap((root) => below(root, 0));
}

/**
 * Under its parent the end of an id is enough. Of a streamed answer the end is shown, because it is
 * the newest.
 */
function lineOf(node: Node, depth: number, { bold, dim, width }: Terminal): string {
  const part = depth === 0 ? node.id : node.id.slice(node.id.lastIndexOf('.') + 1);
  const name = oneLine(part, Math.max(8, width / 2 - columnsOf(node.agent)));
  const note = node.note.replace(/\s+/g, ' ');
  const room = width - 1 - depth * 2 - columnsOf(node.agent) - columnsOf(name) - 4;
  const tail = note.startsWith('“') || note.length >= MAX_NOTE ? endOf(note, Math.max(1, room)) : note;
  return `${'  '.repeat(depth)}${node.mark} ${bold(node.agent)} ${name} ${dim(tail)}`;
}
