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
}

interface Views {
  /** `keep`: a row that the page wants to find again. */
  open(query: ViewQuery, keep?: string): Promise<ViewOpened>;
  /** Throws `ViewGone` if the view is not kept any more. */
  rows(id: string, from: number, to: number): Promise<ViewRows>;
}

export class ViewGone extends ProblemError {}

interface View extends ViewQuery {
  ids: string[];
  /** How deep each task is, in the order of the tree. */
  depths: number[] | undefined;
  usedAt: number;
  /** The tasks as they were read last, and how they differ from the view. */
  compared: { tasks: readonly ListedTask[]; news: Pick<ViewRows, 'next' | 'added'> };
}

/** Eight lists, and for each the one that replaces it. */
const VIEWS_KEPT = 16;
const VIEW_KEPT_MS = 5 * 60_000;

export function openViews(momentAt: (at?: string) => Promise<Moment>, now: () => number = Date.now): Views {
  const views = new Map<string, View>();
  let index: { tasks: readonly ListedTask[]; byId: Map<string, ListedTask> } | undefined;

  const use = (id: string, view: View): void => {
    views.delete(id);
    views.set(id, view);
    view.usedAt = now();
    for (const oldest of [...views.keys()].slice(0, -VIEWS_KEPT)) views.delete(oldest);
  };
  const add = ({ where, isTree, at }: ViewQuery, tasks: readonly ListedTask[]): { id: string; ids: string[] } => {
    const tree = isTree ? treeOrder(tasks) : undefined;
    const ids = tree?.map(({ row }) => row.id) ?? tasks.map(({ id }) => id);
    const id = nameOf([where, String(isTree), at ?? '', ...ids]);
    const depths = tree?.map(({ depth }) => depth);
    use(id, { where, isTree, at, ids, depths, usedAt: 0, compared: { tasks, news: SAME } });
    return { id, ids };
  };
  const compare = (id: string, view: View, tasks: readonly ListedTask[]): View['compared']['news'] => {
    if (view.compared.tasks === tasks) return view.compared.news;
    const next = add(view, tasks);
    const known = new Set(view.ids);
    const added = next.ids.filter((each) => !known.has(each)).length;
    view.compared = { tasks, news: next.id === id ? SAME : { next: next.id, added } };
    return view.compared.news;
  };
  const rowsById = async (moment: Moment): Promise<Map<string, ListedTask>> => {
    const tasks = await moment.tasks('');
    if (index?.tasks !== tasks) index = { tasks, byId: new Map(tasks.map((task) => [task.id, task])) };
    return index.byId;
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
        throw new ViewGone(problem('not_found', 'this list is not kept any more', { hint: 'ask for it again' }));
      }
      use(id, view);
      const moment = await momentAt(view.at);
      const byId = await rowsById(moment);
      const rows = view.ids.slice(from, to).map((each, n) => rowAt(each, byId.get(each), view.depths?.[from + n]));
      // The past has no news.
      const news = view.at === undefined ? compare(id, view, await moment.tasks(view.where)) : SAME;
      return { view: id, total: view.ids.length, all: byId.size, from, rows, ...news };
    },
  };
}

const SAME = { added: 0 };

function rowAt(id: string, task: ListedTask | undefined, depth: number | undefined): ViewRows['rows'][number] {
  if (task === undefined) return { id, isGone: true };
  const row = rowOnly(task);
  return depth === undefined ? row : { ...row, depth };
}

/** The same list has the same name, so that windows share it. */
function nameOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('base64url').slice(0, 22);
}
