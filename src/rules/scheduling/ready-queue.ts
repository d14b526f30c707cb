/**
 * Queues of tasks that wait only for capacity. Thousands may be pending, and none changes until it
 * is taken. A pass looks only at the first task of each queue: if there is no capacity for that
 * task, there is none for the rest. All other open tasks are under way and are checked in every
 * pass.
 */
import { roleFacts } from '../../domain/task/role.js';
import { fromBoard } from '../../domain/task/board.js';
import { compareText } from '../../domain/order.js';
import { ENGINE, HUMAN, type OpenState, type Task } from '../../domain/task/task.js';

/**
 * True for a root that has not started and does not belong to a board. Its dependencies may be
 * open.
 */
export function isQueued(task: Task, state: OpenState): boolean {
  const { id, root, parent, role, to } = task;
  if (state !== 'pending' || !roleFacts(role).isRoot || parent !== undefined || root !== id) return false;
  if (to === HUMAN || to === ENGINE || task.attempts > 0) return false;
  const traces = [task.claimed_at, task.ended_at, task.session, task.waits, task.bids, fromBoard(task)];
  return traces.every((trace) => trace === undefined);
}

/** Tasks with an equal key can be taken by the same agents and have the same priority. */
export function queueKey({ priority, to, from, requirements }: Task): string {
  return `${priority} ${to ?? JSON.stringify([from, requirements])}`;
}

/** `since`: a number that grows with each arrival. */
export interface Place {
  task: Task;
  since: number;
}

/** By priority, then the oldest first. */
export function inOrder(a: Place, b: Place): number {
  return (
    compareText(a.task.priority, b.task.priority) ||
    compareText(a.task.created_at, b.task.created_at) ||
    a.since - b.since
  );
}

/**
 * Tasks in order. `alike`: if there is no capacity for one, there is none for those behind it.
 * `only`: the trees whose tasks may start; absent: all.
 */
export interface Row {
  places: readonly Place[];
  alike: boolean;
  only?: ReadonlySet<string> | undefined;
}

export interface Queue {
  /** The most urgent task that was not returned yet. */
  next(): Task | undefined;
  /**
   * Call it if there is no capacity for the task that was returned last. Returns how many tasks are
   * skipped at most, including that one.
   */
  pass(): number;
}

/** Merges rows into one queue. Tasks for which `isOut` is true are left out. */
export function queue(rows: Iterable<Row>, isOut: (id: string) => boolean): Queue {
  const left: Cursor[] = [];
  for (const row of rows) {
    const at = nextIn(row, 0);
    if (at < row.places.length) left.push({ row, at });
  }
  left.sort(byFirst);
  let last: Cursor | undefined;
  return {
    next() {
      last = left.shift();
      if (last === undefined) return undefined;
      const { row, at } = last;
      const after = nextIn(row, at + 1);
      if (after < row.places.length) insert({ row, at: after });
      return row.places[at]!.task;
    },
    pass() {
      if (last === undefined || !last.row.alike) return 1;
      const { row, at } = last;
      const behind = left.findIndex((cursor) => cursor.row === row);
      if (behind >= 0) left.splice(behind, 1);
      return row.places.length - at;
    },
  };

  function nextIn({ places, only }: Row, from: number): number {
    for (let at = from; at < places.length; at++) {
      const { id, root } = places[at]!.task;
      if (!isOut(id) && only?.has(root) !== false) return at;
    }
    return places.length;
  }

  function insert(cursor: Cursor): void {
    const behind = left.findIndex((other) => byFirst(cursor, other) < 0);
    left.splice(behind < 0 ? left.length : behind, 0, cursor);
  }
}

/** A row and the position of its next task. */
interface Cursor {
  row: Row;
  at: number;
}

function byFirst(a: Cursor, b: Cursor): number {
  return inOrder(a.row.places[a.at]!, b.row.places[b.at]!);
}
