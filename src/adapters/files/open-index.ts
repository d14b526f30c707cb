/**
 * The open tasks in memory, by id and by file. Counts changes, so that readers can ask for the ids
 * that changed, and derives what a parked pattern task waits for from its open stages.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { OpenState, Task, TaskState } from '../../domain/task/task.js';
import type { ClaimName } from './base/layout.js';

export interface Entry {
  id: string;
  state: OpenState;
  file: string;
  stamp: string;
  task: Task;
  owner?: ClaimName;
  /** Identifies the content of the file; absent: not known. */
  sum?: string;
}

export interface OpenIndex {
  byId: Map<string, Entry>;
  byFile: Map<string, Entry>;
  filesOf: Record<OpenState, Set<string>>;
  /** The number of open tasks under each root. */
  ofRoot: Map<string, number>;
  /** The number of changes so far. */
  readonly changes: number;
  /** The ids that changed since that number of changes; undefined if that is too long ago. */
  changedSince(changes: number): readonly string[] | undefined;
  /** Counts a change of this task. */
  touch(id: string): void;
  add(entry: Entry): void;
  remove(entry: Entry): void;
  /** A waiting task that does not say what it waits for waits for its open stages. */
  withWaits(entry: { state: TaskState; task: Task }): Task;
  /** The number of cached answers of `withWaits`. */
  cachedWaits(): number;
}

/** A reader that asks less often than once in this many changes has to look at all tasks. */
const MAX_TOUCHED = 5000;

export function openIndex(): OpenIndex {
  const byId = new Map<string, Entry>();
  const byFile = new Map<string, Entry>();
  const filesOf: Record<OpenState, Set<string>> = { pending: new Set(), active: new Set(), waiting: new Set() };
  const ofRoot = new Map<string, number>();
  const stagesOf = new Map<string, Set<string>>();
  /** Answers of `withWaits` until stages come or go, so that callers can compare by identity. */
  const waits = new Map<string, { of: Task; shown: Task }>();
  const touched: string[] = [];
  let changes = 0;

  return {
    byId,
    byFile,
    filesOf,
    ofRoot,
    get changes() {
      return changes;
    },
    changedSince(since) {
      const from = touched.length - (changes - since);
      return from < 0 ? undefined : touched.slice(from);
    },
    touch,
    add,
    remove,
    withWaits,
    cachedWaits: () => waits.size,
  };

  function touch(id: string): void {
    changes++;
    touched.push(id);
    if (touched.length > 2 * MAX_TOUCHED) touched.splice(0, MAX_TOUCHED);
  }

  function add(entry: Entry): void {
    touch(entry.id);
    const other = byId.get(entry.id);
    if (other !== undefined) countRoot(other, -1);
    countRoot(entry, 1);
    byId.set(entry.id, entry);
    const { parent, role } = entry.task;
    if (parent !== undefined && roleFacts(role).isStage) {
      stagesOf.set(parent, (stagesOf.get(parent) ?? new Set()).add(entry.id));
      if (waits.delete(parent)) touch(parent);
    }
    byFile.set(entry.file, entry);
    filesOf[entry.state].add(entry.file);
  }

  function remove(entry: Entry): void {
    touch(entry.id);
    if (byId.get(entry.id) === entry) {
      byId.delete(entry.id);
      waits.delete(entry.id);
      removeStage(entry);
      countRoot(entry, -1);
    }
    if (byFile.get(entry.file) === entry) byFile.delete(entry.file);
    filesOf[entry.state].delete(entry.file);
  }

  function removeStage({ id, task }: Entry): void {
    if (task.parent === undefined) return;
    const siblings = stagesOf.get(task.parent);
    siblings?.delete(id);
    if (waits.delete(task.parent)) touch(task.parent);
    if (siblings?.size === 0) stagesOf.delete(task.parent);
  }

  function countRoot({ task: { root } }: Entry, by: 1 | -1): void {
    const count = (ofRoot.get(root) ?? 0) + by;
    if (count > 0) ofRoot.set(root, count);
    else ofRoot.delete(root);
  }

  function withWaits({ state, task }: { state: TaskState; task: Task }): Task {
    if (state !== 'waiting' || task.waits !== undefined) return task;
    const cached = waits.get(task.id);
    if (cached?.of === task) return cached.shown;
    const shown = { ...task, waits: { tasks: [...(stagesOf.get(task.id) ?? [])] } };
    // Only tasks of the index are cached: `remove` clears their answers.
    if (byId.get(task.id)?.task === task) waits.set(task.id, { of: task, shown });
    return shown;
  }
}
