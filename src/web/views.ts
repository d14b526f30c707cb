/**
 * Lists that keep their order. A view is the result of a query: a page can read any range of its
 * rows while tasks are added, and decides itself when to run the query again.
 */
import { createHash } from 'node:crypto';
import { problem, ProblemError } from '../domain/problem.js';
import type { ViewOpened, ViewRows } from './base/contract.js';
import type { Moment } from './reads/moment.js';
import { rowOnly, treeOrder, type ListedTask } from './reads/tasks.js';

interface ViewQuery {
  where: string;
  isTree: boolean;
  /** A moment of the past; absent: now. */
  at?: string | undefined;
  /** Only in a tree. */
  fold?: Fold | undefined;
}

/** Tasks at this depth or deeper are folded and all others open, except those in `turned`. */
export interface Fold {
  depth: number;
  turned: ReadonlySet<string>;
}

interface Views {
  /** `keep`: a row that the page wants to find again. */
  open(query: ViewQuery, keep?: string): Promise<ViewOpened>;
  /** Throws `ViewGone` if the view has expired. */
  rows(id: string, from: number, to: number): Promise<ViewRows>;
}

export class ViewGone extends ProblemError {}

interface View extends ViewQuery {
  ids: string[];
  branches: Branches | undefined;
  /** The depth of the deepest task, closed or not. */
  deepest: number;
  usedAt: number;
  /** The tasks as they were last read, and how they differ from the view. */
  compared: { tasks: WeakRef<readonly ListedTask[]>; news: Pick<ViewRows, 'next' | 'added'> };
}

/** Enough for eight lists and the view that replaces each of them. */
const VIEWS_KEPT = 16;
const VIEW_KEPT_MS = 5 * 60_000;

export function openViews(momentAt: (at?: string) => Promise<Moment>, now: () => number = Date.now): Views {
  const views = new Map<string, View>();
  const indexes = new WeakMap<readonly ListedTask[], Map<string, ListedTask>>();

  const use = (id: string, view: View): void => {
    views.delete(id);
    views.set(id, view);
    view.usedAt = now();
    for (const [each, { usedAt }] of views)
      if (views.size > VIEWS_KEPT || now() - usedAt > VIEW_KEPT_MS) views.delete(each);
  };
  const add = (query: ViewQuery, tasks: readonly ListedTask[]): { id: string; ids: string[] } => {
    const { where, isTree, at, fold } = query;
    const tree = isTree ? treeOrder(tasks) : undefined;
    const { ids, branches } = tree ? folded(tree, fold) : { ids: tasks.map((task) => task.id), branches: undefined };
    const id = nameOf([where, String(isTree), at ?? '', ...foldWords(fold), ...ids]);
    const deepest = tree?.reduce((most, { depth }) => Math.max(most, depth), 0) ?? 0;
    const compared = { tasks: new WeakRef(tasks), news: SAME };
    use(id, { where, isTree, at, fold, ids, branches, deepest, usedAt: 0, compared });
    return { id, ids };
  };
  const compare = (id: string, view: View, tasks: readonly ListedTask[]): View['compared']['news'] => {
    if (view.compared.tasks.deref() === tasks) return view.compared.news;
    const next = add(view, tasks);
    const known = new Set(view.ids);
    const added = next.ids.filter((each) => !known.has(each)).length;
    view.compared = { tasks: new WeakRef(tasks), news: next.id === id ? SAME : { next: next.id, added } };
    return view.compared.news;
  };
  const rowsById = async (moment: Moment): Promise<Map<string, ListedTask>> => {
    const tasks = await moment.tasks('');
    const index = indexes.get(tasks) ?? new Map(tasks.map((task) => [task.id, task]));
    indexes.set(tasks, index);
    return index;
  };

  return {
    async open(query, keep) {
      const moment = await momentAt(query.at);
      const start = performance.now();
      const tasks = await moment.tasks(query.where);
      const ms = Math.round(performance.now() - start);
      const { id, ids } = add(query, tasks);
      return { view: id, total: ids.length, ms, index: keep === undefined ? -1 : ids.indexOf(keep) };
    },

    async rows(id, from, to) {
      const view = views.get(id);
      if (view === undefined || now() - view.usedAt > VIEW_KEPT_MS) {
        views.delete(id);
        throw new ViewGone(problem('not_found', 'this list has expired', { hint: 'ask for it again' }));
      }
      use(id, view);
      const moment = await momentAt(view.at);
      const byId = await rowsById(moment);
      // A view of the past never changes.
      const news = view.at === undefined ? compare(id, view, await moment.tasks(view.where)) : SAME;
      // The same rows may have other tasks folded below them.
      const { ids, branches, deepest } = views.get(id) ?? view;
      const rows = ids
        .slice(from, to)
        .map((each, n) => rowAt(each, byId.get(each), branches && branchAt(branches, from + n)));
      return { view: id, total: ids.length, all: byId.size, from, rows, deepest, ...news };
    },
  };
}

const SAME = { added: 0 };

function rowAt(id: string, task: ListedTask | undefined, branch: Branch | undefined): ViewRows['rows'][number] {
  if (task === undefined) return { id, isGone: true };
  const row = rowOnly(task);
  if (branch === undefined) return row;
  const { depth, below, isClosed } = branch;
  return { ...row, depth, ...(below === 0 ? {} : { fold: { below, isClosed } }) };
}

interface Branch {
  depth: number;
  /** How many tasks are below it, at any depth. */
  below: number;
  isClosed: boolean;
}

/** One number for each row: thousands of objects would take many times the room. */
interface Branches {
  depth: Uint32Array;
  below: Uint32Array;
  isClosed: Uint8Array;
}

function branchAt({ depth, below, isClosed }: Branches, at: number): Branch {
  return { depth: depth[at]!, below: below[at]!, isClosed: isClosed[at] === 1 };
}

/** The tree without the tasks below closed ones. */
function folded(
  tree: readonly { row: ListedTask; depth: number }[],
  fold: Fold | undefined,
): { ids: string[]; branches: Branches } {
  const ids: string[] = [];
  const shown: Branch[] = [];
  const above: Branch[] = [];
  let hiddenBelow = Infinity;
  for (const [i, { row, depth }] of tree.entries()) {
    while (above.length > 0 && above.at(-1)!.depth >= depth) above.pop();
    for (const each of above) each.below++;
    const isClosed = (tree[i + 1]?.depth ?? 0) > depth && depth >= (fold?.depth ?? Infinity) !== isTurned(row, fold);
    const branch = { depth, below: 0, isClosed };
    above.push(branch);
    if (depth > hiddenBelow) continue;
    hiddenBelow = isClosed ? depth : Infinity;
    ids.push(row.id);
    shown.push(branch);
  }
  const depth = Uint32Array.from(shown, (branch) => branch.depth);
  const below = Uint32Array.from(shown, (branch) => branch.below);
  return { ids, branches: { depth, below, isClosed: Uint8Array.from(shown, (branch) => Number(branch.isClosed)) } };
}

function isTurned({ id }: ListedTask, fold: Fold | undefined): boolean {
  return fold?.turned.has(id) ?? false;
}

function foldWords(fold: Fold | undefined): string[] {
  return fold === undefined ? [] : [String(fold.depth), ...[...fold.turned].sort(), ''];
}

/** The same list has the same name, so that windows share it. */
function nameOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 22);
}
