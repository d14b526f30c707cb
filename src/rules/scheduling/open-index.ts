/**
 * The open tasks that a store keeps in memory, by id. Counts changes, so that readers can ask for
 * the ids that changed, and derives what a parked pattern task waits for from its open stages.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { OpenState, Task, TaskState } from '../../domain/task/task.js';

export interface OpenRow {
  readonly id: string;
  readonly state: OpenState;
  readonly task: Task;
}

export interface OpenIndex<Row extends OpenRow> {
  byId: Map<string, Row>;
  ofRoot: Map<string, number>;
  readonly changes: number;
  /** The ids that changed after the first `changes` changes; undefined if too long ago. */
  changedSince(changes: number): readonly string[] | undefined;
  /** Counts a change of this task. */
  touch(id: string): void;
  add(row: Row): void;
  remove(row: Row): void;
  /** A waiting task that does not say what it waits for waits for its open stages. */
  withWaits(row: { state: TaskState; task: Task }): Task;
  cachedWaits(): number;
}

/** A reader that asks less often than once in this many changes has to look at all tasks. */
const MAX_TOUCHED = 5000;

export function openIndex<Row extends OpenRow>(): OpenIndex<Row> {
  const byId = new Map<string, Row>();
  const ofRoot = new Map<string, number>();
  const stagesOf = new Map<string, Set<string>>();
  /**
   * Cached answers of `withWaits`, valid until stages come or go, so that callers can compare by
   * identity.
   */
  const waits = new Map<string, { of: Task; shown: Task }>();
  const touched: string[] = [];
  let changes = 0;

  return {
    byId,
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

  function add(row: Row): void {
    touch(row.id);
    const other = byId.get(row.id);
    if (other !== undefined) countRoot(other, -1);
    countRoot(row, 1);
    byId.set(row.id, row);
    const { parent, role } = row.task;
    if (parent === undefined || !roleFacts(role).isStage) return;
    stagesOf.set(parent, (stagesOf.get(parent) ?? new Set()).add(row.id));
    if (waits.delete(parent)) touch(parent);
  }

  function remove(row: Row): void {
    touch(row.id);
    if (byId.get(row.id) !== row) return;
    byId.delete(row.id);
    waits.delete(row.id);
    removeStage(row);
    countRoot(row, -1);
  }

  function removeStage({ id, task }: Row): void {
    if (task.parent === undefined) return;
    const siblings = stagesOf.get(task.parent);
    siblings?.delete(id);
    if (waits.delete(task.parent)) touch(task.parent);
    if (siblings?.size === 0) stagesOf.delete(task.parent);
  }

  function countRoot({ task: { root } }: Row, by: 1 | -1): void {
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
