/**
 * The open tasks, parted into those that only wait for their turn and those that are under way (rules/in-line.ts). Kept in step with the store by
 * what changed there, so a pass costs what is under way, however many stand in line. Where a store does not say what changed, all is looked at.
 */
import type { OpenTask, Store } from '../ports/store.js';
import { inOrder, isInLine, lineOf, type Place } from '../rules/in-line.js';

export interface Lines {
  /** As they are now. */
  underWay(): OpenTask[];
  /** Those in line by who would take them and how urgent they are, each line in order. */
  all(): Iterable<readonly Standing[]>;
  /** One of those in line. */
  find(id: string): Standing | undefined;
  /** Which came first; for tasks that are under way. */
  since(id: string): number;
}

export interface Standing extends Place {
  one: OpenTask;
}

/** All open tasks but those that only wait for their turn. */
export function underWay(parts: { lines?: Lines; store: Pick<Store, 'open'> }): Iterable<OpenTask> {
  return parts.lines?.underWay() ?? parts.store.open();
}

export function lines(store: Pick<Store, 'open' | 'known' | 'changes' | 'changedSince'>): Lines {
  const going = new Map<string, Standing>();
  const standing = new Map<string, Standing>();
  const rows = new Map<string, Standing[]>();
  let count = 0;
  let seen: number | undefined;

  return {
    underWay() {
      refresh();
      return [...going.values()].map(({ one }) => store.known(one.task.id) ?? one);
    },
    all() {
      refresh();
      return rows.values();
    },
    find(id) {
      refresh();
      return standing.get(id);
    },
    since: (id) => going.get(id)?.since ?? 0,
  };

  function refresh(): void {
    const now = store.changes?.();
    if (now !== undefined && now === seen) return;
    const changed = seen === undefined ? undefined : store.changedSince?.(seen);
    seen = now;
    if (changed === undefined) return rebuild();
    for (const id of new Set(changed)) look(id, store.known(id));
  }

  function rebuild(): void {
    for (const all of [going, standing, rows]) all.clear();
    for (const one of store.open()) {
      const mine: Standing = { one, task: one.task, since: ++count };
      if (isInLine(one.task, one.state)) rowFor(mine).push(mine);
      (isInLine(one.task, one.state) ? standing : going).set(one.task.id, mine);
    }
    for (const row of rows.values()) row.sort(inOrder);
  }

  function look(id: string, one: OpenTask | undefined): void {
    const before = standing.get(id) ?? going.get(id);
    if (one !== undefined && one.state === before?.one.state && one.task === before.task) return;
    const stays = one !== undefined && going.has(id) && one.state === before?.one.state;
    if (stays && !isInLine(one.task, one.state)) return void Object.assign(before, { one, task: one.task });
    leave(id);
    going.delete(id);
    if (one === undefined) return;
    const mine: Standing = { one, task: one.task, since: ++count };
    if (!isInLine(one.task, one.state)) return void going.set(id, mine);
    standing.set(id, mine);
    const row = rowFor(mine);
    row.splice(placeIn(row, mine), 0, mine);
  }

  function leave(id: string): void {
    const mine = standing.get(id);
    if (mine === undefined) return;
    standing.delete(id);
    const row = rowFor(mine);
    row.splice(placeIn(row, mine), 1);
    if (row.length === 0) rows.delete(lineOf(mine.task));
  }

  function rowFor({ task }: Standing): Standing[] {
    const key = lineOf(task);
    const row = rows.get(key) ?? [];
    rows.set(key, row);
    return row;
  }
}

/** Where it stands in the row, or would. */
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
