/** The wait-for graph: who waits for whom, cycles marked, and the deadlocks that were broken. */
import { waitsView } from '../../../app/readers/waits-view.js';
import { defined } from '../../../domain/defined.js';
import type { Event } from '../../../domain/event.js';
import { HUMAN, type Placed, type Task } from '../../../domain/task/task.js';
import { priorityIn } from '../../../rules/coordination/deadlock.js';
import { HUMAN_NODE, nodeKind, nodeText, turnNode } from '../../../rules/coordination/wait-node.js';
import { summary } from '../../../views/summary.js';
import type { BrokenCycle, Waits } from '../../base/contract.js';
import type { Log } from '../../base/log.js';
import type { Moment } from '../moment.js';
import { titleOf } from '../../base/title.js';
import { agentOf } from '../rows.js';
import { linksOf } from './wait-links.js';

const NODES_MAX = 400;
const BROKEN_SHOWN = 20;

export async function waitGraph(moment: Moment): Promise<Waits> {
  const { at } = moment;
  const cycles = await brokenCycles(moment);
  const lasting = at === undefined ? [] : cycles.filter(({ shown }) => shown.closedAt <= at && at <= shown.at);
  const byId = placedIn((await moment.snapshot()).open, lasting);
  const open = [...byId.values()];
  const next = at === undefined ? await waitsNow(moment, byId) : waitsThen(open, lasting, moment.log);
  const to = reachable(
    open.filter(({ task }) => task.to !== HUMAN).map(({ task }) => task.id),
    next,
  );
  // A request for the person always waits for them, so that wait is not drawn.
  const links = linksOf(to, (id) => byId.get(id)?.task).filter(({ from }) => byId.get(from)?.task.to !== HUMAN);
  const cyclic = inCycles(links);
  const parked = lastParked(moment.log, new Set(to.keys()));
  const nodes = [...new Set(links.flatMap(({ from, to: end }) => [from, end]))];
  return {
    nodes: nodes.map((id) => {
      const placed = byId.get(id);
      return defined({
        id,
        kind: nodeKind(id),
        title: placed === undefined ? nodeText(id) : titleOf(summary(placed.task)),
        agent: placed && agentOf(placed),
        state: placed?.state,
      });
    }),
    edges: links.map(({ from, to: end, label, need }) =>
      defined({ from, to: end, label, inCycle: cyclic(from, end), need, since: parked.get(from) }),
    ),
    broken: cycles.map(({ shown }) => shown),
  };
}

/**
 * A cycle can be broken within the millisecond in which it closed. Until its end it is drawn with
 * all its tasks, also those that had ended by then.
 */
function placedIn(open: readonly Shown[], lasting: readonly Cycle[]): Map<string, Shown> {
  const ended = lasting.flatMap(({ tasks }) => tasks.map((task): Shown => ({ task, state: 'waiting' })));
  return new Map([...ended, ...open].map((placed) => [placed.task.id, placed]));
}

type Shown = Pick<Placed, 'task' | 'state' | 'owner'>;

/** How many deadlocks there are. Fewer than two waiting tasks cannot wait for each other. */
export async function cyclesIn(moment: Moment): Promise<number> {
  const { open } = await moment.snapshot();
  if (open.filter(({ state }) => state === 'waiting').length < 2) return 0;
  const groups: Set<string>[] = [];
  for (const { from, to, inCycle } of (await waitGraph(moment)).edges) {
    if (!inCycle) continue;
    const touched = groups.filter((group) => group.has(from) || group.has(to));
    for (const group of touched) groups.splice(groups.indexOf(group), 1);
    groups.push(new Set([from, to, ...touched.flatMap((group) => [...group])]));
  }
  return groups.length;
}

type Next = (node: string) => readonly string[];

async function waitsNow({ feed }: Moment, open: ReadonlyMap<string, unknown>): Promise<Next> {
  const view = await waitsView(feed.root, feed.states.store);
  return (node) => view.waitsOf(node).filter((each) => nodeKind(each) !== 'task' || open.has(each));
}

/**
 * Derived from the records and events of that time: the waits of parked tasks, and the holder of
 * the conversation that a pending task needed. A deadlock of this moment is known from its event.
 */
function waitsThen(open: readonly Shown[], lasting: readonly Cycle[], log: Log): Next {
  const ids = new Set(open.map(({ task }) => task.id));
  const to = new Map<string, Set<string>>();
  const add = (from: string, end: string): void => void (to.get(from) ?? to.set(from, new Set()).get(from)!).add(end);
  const sessions = new Map(
    log
      .events((name) => name === 'session.created')
      .flatMap(({ task, session }) => (task !== undefined && ids.has(task) ? [[String(session), task] as const] : [])),
  );
  for (const { task, state } of open) {
    for (const each of [...(task.waits?.tasks ?? []), ...task.dependencies]) if (ids.has(each)) add(task.id, each);
    if (task.to === HUMAN) add(task.id, HUMAN_NODE);
    const holder = sessions.get(task.session ?? '');
    if (state === 'pending' && holder !== undefined && holder !== task.id) {
      add(task.id, turnNode(task.session!));
      add(turnNode(task.session!), holder);
    }
  }
  for (const { nodes } of lasting)
    if (nodes.every((node) => nodeKind(node) !== 'task' || ids.has(node)))
      for (const [i, node] of nodes.entries()) add(node, nodes[(i + 1) % nodes.length]!);
  return (node) => [...(to.get(node) ?? [])];
}

function reachable(from: string[], next: Next): Map<string, readonly string[]> {
  const to = new Map<string, readonly string[]>();
  const queue = [...from];
  for (const node of queue) {
    if (to.has(node) || to.size >= NODES_MAX) continue;
    to.set(node, next(node));
    queue.push(...to.get(node)!);
  }
  return to;
}

/** When each of these tasks began its current wait. */
function lastParked(log: Log, ids: ReadonlySet<string>): Map<string, string> {
  const events = log.events((name, task) => name === 'task.parked' && task !== undefined && ids.has(task));
  return new Map(events.map(({ task, at }) => [task!, at]));
}

interface Cycle {
  shown: BrokenCycle;
  /** The nodes of the cycle as the program found it. */
  nodes: string[];
  /** Those that can still be read. */
  tasks: Task[];
}

/** Includes cycles after a moment of the past, because a person steps to them. */
async function brokenCycles({ feed, whole }: Moment): Promise<Cycle[]> {
  const events = whole.events((name) => name === 'deadlock.broken').slice(-BROKEN_SHOWN);
  return Promise.all(events.reverse().map((event) => cycleOf(whole, event, requestOf)));

  async function requestOf(id: string): Promise<Task | undefined> {
    const task = nodeKind(id) === 'task' ? (await feed.states.store.tasks.read(id))?.task : undefined;
    if (task === undefined) return undefined;
    // The graph shows the request without its result.
    const { result: _, ...asked } = task;
    return asked;
  }
}

async function cycleOf(log: Log, event: Event, read: (id: string) => Promise<Task | undefined>): Promise<Cycle> {
  const nodes = Array.isArray(event['cycle']) ? event['cycle'].map(String) : [];
  const tasks = new Map(await Promise.all(nodes.map(async (id) => [id, await read(id)] as const)));
  const to = new Map(nodes.map((node, i) => [node, [nodes[(i + 1) % nodes.length]!]]));
  const links = linksOf(to, (id) => tasks.get(id));
  const parked = lastParked(
    { ...log, events: (is) => log.events(is).filter(({ at }) => at <= event.at) },
    new Set(nodes),
  );
  const gaveWay = new Set([event['victim'], event['cancelled'], event.task].map(String));
  const times = [...parked.values()].sort();
  return {
    nodes,
    tasks: [...tasks.values()].flatMap((task) => task ?? []),
    shown: {
      at: event.at,
      closedAt: times.at(-1) ?? event.at,
      rule: String(event['rule'] ?? ''),
      cycle: links.map(({ from, via, label, need }) => {
        const task = tasks.get(from);
        return defined({
          id: from,
          title: task === undefined ? nodeText(from) : titleOf(summary(task)),
          agent: task?.to,
          label,
          need,
          priority:
            task === undefined || event['mode'] === 'mesh' ? undefined : priorityIn(task, (id) => tasks.get(id)),
          gaveWay: [from, ...via].some((node) => gaveWay.has(node)),
          since: parked.get(from),
        });
      }),
    },
  };
}

/** Whether an edge is part of a cycle: its end leads back to its start. */
function inCycles(links: readonly { from: string; to: string }[]): (from: string, end: string) => boolean {
  const to = new Map<string, string[]>();
  for (const { from, to: end } of links) to.set(from, [...(to.get(from) ?? []), end]);
  return (from, end) => {
    const seen = new Set([end]);
    for (const node of seen) {
      if (node === from) return true;
      for (const next of to.get(node) ?? []) seen.add(next);
    }
    return false;
  };
}
