/** One task: its tree with what happened when, its answer, and what a person can do with it. */
import { taskTree } from '../../app/readers/task-tree.js';
import { originOf, storyOf } from '../../app/readers/why/story.js';
import { sharesOf, waitChain } from '../../app/readers/why/wait-chain.js';
import { defined } from '../../domain/defined.js';
import { certificateText } from '../../domain/task/certificate.js';
import { levelsOf } from '../../domain/task/lineage.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed } from '../../domain/task/task.js';
import { taintIn } from '../../domain/task/taint.js';
import { totals } from '../../rules/budget/totals.js';
import type { Row, TaskAct, TaskDetail, TreeRow, Why } from '../base/contract.js';
import type { Feed } from '../base/feed.js';
import type { Log } from '../base/log.js';
import { rowOf, usageOf } from './rows.js';
import { spansByTask } from './spans.js';

const PARENTS_MAX = 50;

export async function taskDetail(feed: Feed, log: Log, id: string): Promise<TaskDetail> {
  const { store } = feed.states;
  const placed = await existing(feed, id);
  const { task, state } = placed;
  const tree = await taskTree(store, id);
  const ids = new Set(tree.map((each) => each.task.id));
  const people = new Set(tree.filter((each) => each.task.to === HUMAN).map((each) => each.task.id));
  const spans = spansByTask(
    log.events((_, of) => of !== undefined && ids.has(of)),
    (each) => people.has(each),
  );
  const levels = levelsOf(tree.map((each) => each.task));
  const sums = totals(tree);
  const rows = tree.map((each): TreeRow => {
    const { session } = each.task;
    return {
      ...rowOf(each),
      depth: levels.get(each.task.id) ?? 0,
      spans: spans.get(each.task.id) ?? [],
      ...(session === undefined ? {} : { session }),
    };
  });
  return defined({
    row: rowOf(placed),
    description: task.description,
    parents: await parentsOf(feed, placed),
    taint: taintIn(task),
    result: task.result === undefined ? undefined : (placed.fullResult ?? task.result),
    error: task.error,
    certificate: task.certificate === undefined ? undefined : certificateText(task.certificate),
    session: task.session,
    usage: usageOf(sums.get(id)?.total ?? task.usage),
    can: actsOf(placed),
    tree: rows,
    place: isEnded(state) ? `results/${id}.md` : `tasks/${state}/${id}.json`,
  });
}

export async function whyOf(feed: Feed, log: Log, id: string): Promise<Why> {
  const { store } = feed.states;
  await feed.snapshot();
  const placed = await existing(feed, id);
  const index = log.index();
  const { lines } = await waitChain(feed.root, store, placed);
  return {
    chain: lines,
    shares: sharesOf(store, placed),
    origin: await originOf(store, index, placed),
    story: storyOf(index, placed),
  };
}

async function existing({ states }: Feed, id: string): Promise<Placed> {
  const placed = await states.store.tasks.read(id);
  if (placed !== undefined) return placed;
  throw new ProblemError(
    states.store.tasks.unreadable(id) ??
      problem('not_found', `there is no task ${id}`, { hint: 'it may have been moved or deleted; see Tasks' }),
  );
}

async function parentsOf({ states }: Feed, { task }: Placed): Promise<Row[]> {
  const parents: Row[] = [];
  // Parent links are user-editable and may form a cycle.
  const seen = new Set([task.id]);
  for (let at = task.parent; at !== undefined && !seen.has(at) && parents.length < PARENTS_MAX;) {
    seen.add(at);
    const parent = await states.store.tasks.read(at);
    if (parent === undefined) break;
    parents.unshift(rowOf(parent));
    at = parent.task.parent;
  }
  return parents;
}

function actsOf({ task, state }: Placed): TaskAct[] {
  if (task.to === HUMAN) return [];
  const fork: TaskAct[] = task.session === undefined ? [] : ['fork'];
  if (!isEnded(state)) return ['tell', ...fork, 'stop', 'cancel'];
  return state === 'failed' ? [...fork, 'retry'] : fork;
}
