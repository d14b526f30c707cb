/** The wait-for graph: who waits for whom, cycles marked, and the deadlocks that were broken. */
import { waitsView } from '../../app/readers/waits-view.js';
import { defined } from '../../domain/defined.js';
import { HUMAN } from '../../domain/task/task.js';
import { nodeKind, nodeText } from '../../rules/coordination/wait-node.js';
import { summary } from '../../views/summary.js';
import type { Waits } from '../base/contract.js';
import type { Feed } from '../base/feed.js';
import type { Log } from '../base/log.js';
import { titleOf } from './rows.js';

const NODES_MAX = 400;
const BROKEN_SHOWN = 20;

export async function waitGraph(feed: Feed, log: Log): Promise<Waits> {
  const { open } = await feed.snapshot();
  const view = await waitsView(feed.root, feed.states.store);
  const titles = new Map(open.map(({ task }) => [task.id, titleOf(summary(task))]));
  const queue = open.filter(({ task }) => task.to !== HUMAN).map(({ task }) => task.id);
  const to = new Map<string, string[]>();
  for (const node of queue) {
    if (to.has(node) || to.size >= NODES_MAX) continue;
    const next = view.waitsOf(node).filter((each) => nodeKind(each) !== 'task' || titles.has(each));
    to.set(node, next);
    queue.push(...next);
  }
  const joined = new Set([...to].flatMap(([node, next]) => (next.length > 0 ? [node, ...next] : [])));
  const cyclic = inCycles(to);
  const byId = new Map(open.map((placed) => [placed.task.id, placed]));
  const parked = lastParked(log, new Set(to.keys()));
  return {
    nodes: [...joined].map((id) => {
      const placed = byId.get(id);
      return defined({
        id,
        kind: nodeKind(id),
        title: titles.get(id) ?? nodeText(id),
        agent: placed?.task.to === undefined ? undefined : placed.task.to,
        state: placed?.state,
      });
    }),
    edges: [...to].flatMap(([from, next]) =>
      next.map((each) =>
        defined({
          from,
          to: each,
          inCycle: cyclic(from, each),
          since: parked.has(from) ? parked.get(from)! : undefined,
        }),
      ),
    ),
    broken: await brokenOf(feed, log),
  };
}

/** When each of these tasks began its present wait. */
function lastParked(log: Log, ids: ReadonlySet<string>): Map<string, string> {
  const events = log.events((name, task) => name === 'task.parked' && task !== undefined && ids.has(task));
  return new Map(events.map(({ task, at }) => [task!, at]));
}

async function brokenOf({ states }: Feed, log: Log): Promise<Waits['broken']> {
  const events = log.events((name) => name === 'deadlock.broken').slice(-BROKEN_SHOWN);
  const named = async (id: string): Promise<Waits['broken'][number]['cycle'][number]> => {
    const task = nodeKind(id) === 'task' ? (await states.store.tasks.read(id))?.task : undefined;
    if (task === undefined) return { id, title: nodeText(id) };
    return defined({ id, title: titleOf(summary(task)), agent: task.to });
  };
  return Promise.all(
    events.reverse().map(async (event) => ({
      at: event.at,
      cycle: await Promise.all(Array.isArray(event['cycle']) ? event['cycle'].map(String).map(named) : []),
      victim: String(event['victim'] ?? event.task ?? ''),
      rule: String(event['rule'] ?? ''),
    })),
  );
}

/** Whether an edge is part of a cycle: its end leads back to its start. */
function inCycles(to: ReadonlyMap<string, string[]>): (from: string, end: string) => boolean {
  return (from, end) => {
    const seen = new Set([end]);
    for (const node of seen) {
      if (node === from) return true;
      for (const next of to.get(node) ?? []) seen.add(next);
    }
    return false;
  };
}
