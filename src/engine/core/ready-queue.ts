/**
 * Divides the open tasks into those that are ready and only wait for capacity, those that depend on
 * open tasks, and those under way. Follows the store's changes, so the cost of a pass depends on
 * the tasks under way, however many are queued (`rules/scheduling/ready-queue`).
 */
import type { OpenTask, Tasks } from '../../ports/store/tasks.js';
import { inOrder, isQueued, queueKey, type Place } from '../../rules/scheduling/ready-queue.js';

export interface ReadyQueue {
  /** Tasks that are neither queued nor waiting for a dependency, in their current state. */
  underWay(): readonly OpenTask[];
  /** Ready tasks in rows by assignee and priority, each row in order. */
  all(): Iterable<readonly Standing[]>;
  find(id: string): Standing | undefined;
  /** A task that waits for open dependencies. */
  behind(id: string): Standing | undefined;
  /** Order of arrival, for tasks under way. */
  since(id: string): number;
  /** Notes that a dependency has ended; tasks that depend only on ended ones become ready. */
  ended(id: string): void;
  /** True if `ended` was called and the task was not reopened since. */
  hasEnded(id: string): boolean;
}

interface Standing extends Place {
  one: OpenTask;
}

/** All open tasks except those that are only queued or wait for dependencies. */
export function underWay({ queue }: { queue: Pick<ReadyQueue, 'underWay'> }): Iterable<OpenTask> {
  return queue.underWay();
}

export function readyQueue(tasks: Pick<Tasks, 'open' | 'getOpen' | 'isOpen' | 'version' | 'changedSince'>): ReadyQueue {
  const going = new Map<string, Standing>();
  const standing = new Map<string, Standing>();
  /** Tasks with open dependencies. */
  const behind = new Map<string, Standing>();
  const rows = new Map<string, Standing[]>();
  /** Rows that a caller may still be reading; they are copied before they change. */
  const lent = new WeakSet<Standing[]>();
  /** Tasks that would be ready without this dependency. */
  const dependents = new Map<string, Set<string>>();
  const over = new Set<string>();
  let count = 0;
  let seen: number | undefined;
  let shown: { version: number | undefined; all: readonly OpenTask[] } | undefined;

  return {
    underWay() {
      refresh();
      // Cached, because several modules ask in each pass.
      if (shown?.version !== seen) {
        const all = [...going.values()].map(({ one }) => tasks.getOpen(one.task.id) ?? one);
        shown = { version: seen, all };
      }
      return shown!.all;
    },
    all() {
      refresh();
      for (const row of rows.values()) lent.add(row);
      return rows.values();
    },
    find(id) {
      refresh();
      return standing.get(id);
    },
    behind(id) {
      refresh();
      return behind.get(id);
    },
    since: (id) => going.get(id)?.since ?? 0,
    ended(id) {
      if (over.has(id) || !dependents.has(id) || tasks.isOpen(id)) return;
      over.add(id);
      shown = undefined;
      for (const one of [...dependents.get(id)!]) look(one);
    },
    hasEnded: (id) => over.has(id) && !tasks.isOpen(id),
  };

  function refresh(): void {
    const now = tasks.version();
    if (now === seen) return;
    const changed = seen === undefined ? undefined : tasks.changedSince(seen);
    seen = now;
    if (changed === undefined) return rebuild();
    const all = new Set(changed);
    for (const id of changed) {
      if (tasks.isOpen(id)) over.delete(id);
      for (const one of dependents.get(id) ?? []) all.add(one);
    }
    for (const id of all) look(id);
  }

  function rebuild(): void {
    for (const all of [going, standing, behind, rows, dependents]) all.clear();
    for (const one of tasks.open()) {
      const mine: Standing = { one, task: one.task, since: ++count };
      const group = groupOf(one);
      group.set(one.task.id, mine);
      if (group === standing) rowFor(mine).push(mine);
      depend(undefined, one);
    }
    for (const row of rows.values()) row.sort(inOrder);
    for (const id of over) if (!dependents.has(id) || tasks.isOpen(id)) over.delete(id);
  }

  function groupOf({ task, state }: OpenTask): Map<string, Standing> {
    if (!isQueued(task, state)) return going;
    if (task.dependencies.some((id) => tasks.isOpen(id))) return behind;
    return task.dependencies.every((id) => over.has(id)) ? standing : going;
  }

  function look(id: string): void {
    const one = tasks.getOpen(id);
    const groups = [going, standing, behind];
    const group = groups.find((all) => all.has(id));
    const before = group?.get(id);
    const next = one && groupOf(one);
    if (one !== undefined && one.state === before?.one.state && one.task === before.task && next === group) return;
    depend(before?.one, one);
    if (one !== undefined && group === going && next === going && one.state === before!.one.state)
      return void Object.assign(before!, { one, task: one.task });
    if (group === standing) leave(before!);
    group?.delete(id);
    if (one === undefined) return;
    const mine: Standing = { one, task: one.task, since: ++count };
    next!.set(id, mine);
    if (next !== standing) return;
    const row = rowFor(mine);
    row.splice(placeIn(row, mine), 0, mine);
  }

  /** An ended dependency is remembered as long as some task depends on it. */
  function depend(before: OpenTask | undefined, now: OpenTask | undefined): void {
    const needed = new Set(needs(now));
    for (const id of needed) dependents.set(id, (dependents.get(id) ?? new Set<string>()).add(now!.task.id));
    for (const id of needs(before)) {
      const those = needed.has(id) ? undefined : dependents.get(id);
      if (!those?.delete(before!.task.id) || those.size > 0) continue;
      dependents.delete(id);
      over.delete(id);
    }
  }

  function leave(mine: Standing): void {
    const row = rowFor(mine);
    row.splice(placeIn(row, mine), 1);
    if (row.length === 0) rows.delete(queueKey(mine.task));
  }

  function rowFor({ task }: Standing): Standing[] {
    const key = queueKey(task);
    const known = rows.get(key) ?? [];
    const row = lent.has(known) ? [...known] : known;
    rows.set(key, row);
    return row;
  }
}

/** The dependencies a task must wait for before it is ready. */
function needs(one: OpenTask | undefined): readonly string[] {
  return one !== undefined && isQueued(one.task, one.state) ? one.task.dependencies : [];
}

/** Position of a task in its row, or where it belongs. */
function placeIn(row: readonly Place[], mine: Place): number {
  let from = 0;
  let to = row.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (inOrder(row[middle]!, mine) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
