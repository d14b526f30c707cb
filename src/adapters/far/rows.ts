/**
 * The open tasks in memory: as of the last look, with this process's own changes, which may still
 * be on their way to the ledger.
 */
import { defined } from '../../domain/defined.js';
import { openIndex, type OpenIndex } from '../../rules/scheduling/open-index.js';
import { roleFacts } from '../../domain/task/role.js';
import { isEnded, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import type { Entry, Put } from '../../ports/ledger.js';
import type { Looks } from './looks.js';
import type { Cell, Value } from './batch.js';
import type { Outbox } from './outbox.js';
import { remember } from './remember.js';

/** Immutable, except for the revision in its cell, which all versions of a row share. */
export interface Row extends Placed {
  readonly id: string;
  readonly state: OpenState;
  readonly cell: Cell;
}

export interface Rows {
  index: OpenIndex<Row>;
  ended(id: string): Placed | undefined;
  end(id: string, placed: Placed): void;
  /** Resolves when rows that turned out to be outdated have been read again. */
  corrected(): Promise<void>;
  /** Calls back for each task that this process creates or sees for the first time. */
  onNew(hear: (task: Task) => void): void;
  create(row: Row): void;
  /** Tasks that others ended since the last call. */
  takeGone(): string[];
}

interface Dependencies {
  outbox: Outbox;
  looks: Looks;
  read: (key: string) => Promise<Entry | undefined>;
}

export const TASK = 'task/';

/** How many rows of ended tasks are kept: a parent reads each of its children once more. */
const MAX_ENDED = 2000;

export function rows({ outbox, looks, read }: Dependencies): Rows {
  const index = openIndex<Row>();
  const ended = new Map<string, Placed>();
  const gone = new Set<string>();
  /** Updates of rows with unsent changes. The reply to those changes decides which one counts. */
  const late = new Map<string, Entry>();
  const corrections = new Set<Promise<void>>();
  const listeners: ((task: Task) => void)[] = [];
  looks.add({
    prefix: TASK,
    learn(entry) {
      if (outbox.unsent(entry.key) === undefined) apply(entry);
      else late.set(entry.key, entry);
    },
    keys: () => [...index.byId.values()].flatMap(({ cell }) => (cell.rev > 0 ? [cell.key] : [])),
    forget(key) {
      if (outbox.unsent(key) === undefined) remove(key.slice(TASK.length));
    },
  });
  outbox.onAnswer((cell, { isAccepted }) => {
    if (!cell.key.startsWith(TASK)) return;
    const entry = late.get(cell.key);
    late.delete(cell.key);
    if (!isAccepted) correct(cell.key);
    else if (entry !== undefined && entry.rev > cell.rev) apply(entry);
  });
  return {
    index,
    ended: (id) => ended.get(id),
    end(id, placed) {
      const row = index.byId.get(id);
      if (row !== undefined) index.remove(row);
      remember(ended, id, placed, MAX_ENDED);
    },
    onNew: (hear) => void listeners.push(hear),
    create: add,
    async corrected() {
      await Promise.all(corrections);
    },
    takeGone() {
      const ids = [...gone].filter((id) => !index.byId.has(id));
      gone.clear();
      return ids;
    },
  };

  function apply({ key, rev, value, live }: Entry): void {
    const id = key.slice(TASK.length);
    const known = index.byId.get(id);
    if (known !== undefined && rev <= known.cell.rev) return;
    const row = parseRow(value);
    if (row === undefined) {
      remove(id);
      ended.delete(id);
      return;
    }
    const { task, state, owner } = row;
    if (live && !isEnded(state)) {
      ended.delete(id);
      add(defined({ id, task, state, owner, cell: { key, rev } }));
      return;
    }
    remove(id);
    remember(ended, id, { task, state }, MAX_ENDED);
  }

  function add(row: Row): void {
    if (!index.byId.has(row.id)) for (const hear of listeners) hear(row.task);
    index.add(row);
  }

  function remove(id: string): void {
    const known = index.byId.get(id);
    if (known === undefined) return;
    index.remove(known);
    gone.add(id);
  }

  /** Another process was faster, or a limit was reached: this version of the row does not count. */
  function correct(key: string): void {
    const reading = read(key).then((entry) => {
      corrections.delete(reading);
      if (entry === undefined || outbox.unsent(key) !== undefined) return;
      const known = index.byId.get(key.slice(TASK.length));
      if (known !== undefined && known.cell.rev <= entry.rev) known.cell.rev = 0;
      apply(entry);
    });
    corrections.add(reading);
    reading.catch(() => corrections.delete(reading));
  }
}

/** `atMost`: the limit of this agent's tasks, if the change is a claim. */
export function rowValue(row: Placed, atMost?: number): Value {
  const { task, state, owner } = row;
  const tag = isEnded(state) ? state : owner && roleFacts(task.role).takesCapacity ? claimTag(owner.agent) : undefined;
  return defined({
    print: () => JSON.stringify({ task, state, owner }),
    live: !isEnded(state),
    tag,
    // Nobody else can act on a task that is held or waits.
    topic: state === 'active' || state === 'waiting' ? 'views' : 'work',
    atMost: tag === undefined || atMost === undefined ? undefined : atMost,
  });
}

export function claimTag(agent: string): string {
  return `claimed for ${agent}`;
}

/** Undefined: an undo removed the task. */
export function parseRow(value: string): Placed | undefined {
  const row = JSON.parse(value) as Placed & { removed?: true };
  return row.removed ? undefined : row;
}

/** The value of a task that an undo removed. Earlier versions read it as a failed task. */
export function removedRow({ task }: Placed): Pick<Put, 'value' | 'live' | 'tag'> {
  return { value: JSON.stringify({ task, state: 'failed', removed: true }), live: false, tag: 'removed' };
}
