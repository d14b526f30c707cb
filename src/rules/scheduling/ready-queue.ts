/**
 * Tasks that wait for nothing but their turn, once what they depend on has ended. Thousands of them may be pending, and nothing about any of them changes until somebody takes it,
 * so nobody looks at each: they stand in lines, and of a line only the first is asked about. Where there is no room for it there is none for
 * those behind it. Everything else that is open is under way, and is looked at in every pass.
 */
import { roleFacts } from '../../domain/task/role.js';
import { fromBoard } from '../../domain/task/board.js';
import { compareText } from '../../domain/order.js';
import { ENGINE, HUMAN, type OpenState, type Task } from '../../domain/task/task.js';

/** Nobody has begun it, and it belongs to nothing else. Whether what it depends on has ended is not asked. */
export function isInLine(task: Task, state: OpenState): boolean {
  const { id, root, parent, role, to } = task;
  if (state !== 'pending' || !roleFacts(role).isRoot || parent !== undefined || root !== id) return false;
  if (to === HUMAN || to === ENGINE || task.attempts > 0) return false;
  const traces = [task.claimed_at, task.ended_at, task.session, task.waits, task.bids, fromBoard(task)];
  return traces.every((trace) => trace === undefined);
}

/** Tasks with the same are taken by the same agents, and are as urgent. */
export function lineOf({ priority, to, from, requirements }: Task): string {
  return `${priority} ${to ?? JSON.stringify([from, requirements])}`;
}

/** `since`: a number that is higher for what came later. */
export interface Place {
  task: Task;
  since: number;
}

/** Most urgent first, then the oldest. */
export function inOrder(a: Place, b: Place): number {
  return (
    compareText(a.task.priority, b.task.priority) ||
    compareText(a.task.created_at, b.task.created_at) ||
    a.since - b.since
  );
}

/** Tasks in order. `alike`: where there is no room for one of them, there is none for those behind it. */
export interface Row {
  places: readonly Place[];
  alike: boolean;
}

export interface Queue {
  /** The most urgent that was not named yet. */
  next(): Task | undefined;
  /** There is no room for the one named last. How many are passed over with that, in all. */
  pass(): number;
}

/** Many rows as one. `isOut`: this one is not to be named. */
export function queue(rows: Iterable<Row>, isOut: (id: string) => boolean): Queue {
  const left: Standing[] = [];
  for (const row of rows) {
    const at = nextIn(row, 0);
    if (at < row.places.length) left.push({ row, at });
  }
  left.sort(byFirst);
  let last: Standing | undefined;
  return {
    next() {
      last = left.shift();
      if (last === undefined) return undefined;
      const { row, at } = last;
      const after = nextIn(row, at + 1);
      if (after < row.places.length) putIn({ row, at: after });
      return row.places[at]!.task;
    },
    pass() {
      if (last === undefined || !last.row.alike) return 1;
      const { row, at } = last;
      const behind = left.findIndex((one) => one.row === row);
      if (behind >= 0) left.splice(behind, 1);
      return row.places.length - at;
    },
  };

  function nextIn({ places }: Row, from: number): number {
    let at = from;
    while (at < places.length && isOut(places[at]!.task.id)) at++;
    return at;
  }

  function putIn(one: Standing): void {
    const behind = left.findIndex((other) => byFirst(one, other) < 0);
    left.splice(behind < 0 ? left.length : behind, 0, one);
  }
}

/** A row and who is the next of it. */
interface Standing {
  row: Row;
  at: number;
}

function byFirst(a: Standing, b: Standing): number {
  return inOrder(a.row.places[a.at]!, b.row.places[b.at]!);
}
