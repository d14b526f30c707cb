/** One task: its tree with what happened when, its answer, and what a person can do with it. */
import { originOf, storyOf } from '../../app/readers/why/story.js';
import { sharesOf, waitChain } from '../../app/readers/why/wait-chain.js';
import { defined } from '../../domain/defined.js';
import { shortCertificate } from '../../domain/task/certificate.js';
import { problem, ProblemError } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed } from '../../domain/task/task.js';
import { taintIn } from '../../domain/task/taint.js';
import type { Row, TaskAct, TaskDetail, Usage, Why } from '../base/contract.js';
import type { Moment } from './moment.js';
import { rowOf, titled, usageOf } from './rows.js';
import { treeOf } from './tree.js';

const PARENTS_MAX = 50;

export async function taskDetail(moment: Moment, id: string): Promise<TaskDetail> {
  const placed = await existing(moment, id);
  const { task, state } = placed;
  const { rows, isMerged, listed } = await treeOf(moment, id);
  return defined({
    row: rowOf(placed),
    description: task.description,
    parents: await parentsOf(moment, placed),
    taint: taintIn(task),
    result: task.result === undefined ? undefined : (placed.fullResult ?? task.result),
    error: task.error,
    certificate: task.certificate === undefined ? undefined : shortCertificate(task.certificate),
    session: task.session,
    usage: sumOf(listed.map(({ own }) => own)) ?? usageOf(task.usage),
    can: moment.at === undefined ? actsOf(placed) : [],
    tree: rows,
    isMerged,
    place: isEnded(state) ? `results/${id}.md` : `tasks/${state}/${id}.json`,
  });
}

/** Undefined if nothing was spent, or if the records are older than the field. */
function sumOf(all: readonly Usage[]): Usage | undefined {
  const sum = usageOf(undefined);
  for (const usage of all) for (const key of Object.keys(sum) as (keyof Usage)[]) sum[key] += usage[key];
  return sum.turns === 0 ? undefined : sum;
}

/** Titles, not ids, in the words of the terminal. */
export async function whyOf(moment: Moment, id: string): Promise<Why> {
  const { store } = moment.feed.states;
  await moment.feed.snapshot();
  const placed = await existing(moment, id);
  // The title of a bid is its answer, which does not fit into a sentence.
  const titles = new Map((await moment.tasks('')).map((row) => [row.id, row.bid ? `Bid of ${row.agent}` : row.title]));
  const named = (text: string): string => titled(text, (each) => titles.get(each));
  const { lines } = await waitChain(moment.feed.root, moment.feed.env, store, placed);
  return {
    chain: lines.map(named),
    shares: sharesOf(store, placed).map(named),
    origin: (await originOf(store, moment.log, placed)).map(named),
    story: storyOf(moment.log, placed).map(({ at, text }) => ({ at, text: named(text) })),
  };
}

async function existing(moment: Moment, id: string): Promise<Placed> {
  const placed = await moment.task(id);
  if (placed !== undefined) return placed;
  const isLater = moment.at !== undefined && (await moment.feed.states.store.tasks.read(id)) !== undefined;
  throw new ProblemError(
    moment.feed.states.store.tasks.unreadable(id) ??
      (isLater
        ? problem('not_found', 'this task did not exist at this moment')
        : problem('not_found', `there is no task ${id}`, { hint: 'it may have been moved or deleted; see Tasks' })),
  );
}

async function parentsOf(moment: Moment, { task }: Placed): Promise<Row[]> {
  const parents: Row[] = [];
  // Parent links are user-editable and may form a cycle.
  const seen = new Set([task.id]);
  for (let at = task.parent; at !== undefined && !seen.has(at) && parents.length < PARENTS_MAX;) {
    seen.add(at);
    const parent = await moment.task(at);
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
