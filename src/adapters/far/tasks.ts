/**
 * Tasks as entries of the ledger, one entry for each task. Its revision is the fence: creating,
 * claiming, parking and settling are compare-and-swap, so each has one winner. A claim of a task
 * that no other process has seen costs nothing. If a task is created and ended between two commits,
 * only its end is sent.
 */
import { defined } from '../../domain/defined.js';
import { roleFacts } from '../../domain/task/role.js';
import { isEnded, type EndedState, type OpenState, type Placed, type Task } from '../../domain/task/task.js';
import type { Ledger } from '../../ports/ledger.js';
import type { Claim, OpenTask, Tasks } from '../../ports/store/tasks.js';
import type { Looks } from './looks.js';
import type { Cell } from './batch.js';
import type { Outbox } from './outbox.js';
import type { FarPresence } from './presence.js';
import { parseRow, rowValue, TASK, type Row, type Rows } from './rows.js';
import { taskLists } from './task-lists.js';
import type { Undone } from './undone.js';

interface Dependencies {
  ledger: Ledger;
  outbox: Outbox;
  looks: Looks;
  rows: Rows;
  presence: FarPresence;
  undone: Undone;
  /** Updates of other ports that run with each scan. */
  beforeScanEnds: readonly (() => Promise<void>)[];
}

export function taskVerbs({ ledger, outbox, looks, rows, presence, undone, beforeScanEnds }: Dependencies): Tasks {
  const { index } = rows;
  const me = presence.peer.id;
  /** For each task that this process made and no other process has held since: its children. */
  const childrenOf = new WeakMap<Cell, Set<string>>();
  const isHeld = ({ owner }: Row): boolean => owner !== undefined && presence.isAlive(owner.peer);

  return {
    async create(task, { durable = true } = {}) {
      const key = TASK + task.id;
      const wasRemoved = undone.has(key);
      const rev = wasRemoved ? await undone.revOf(key) : 0;
      if (index.byId.has(task.id) || rows.ended(task.id) !== undefined || outbox.unsent(key)) return false;
      const row: Row = { id: task.id, task, state: 'pending', cell: { key, rev } };
      rows.create(row);
      childrenOf.set(row.cell, new Set());
      ownChildren(task.parent)?.add(task.id);
      const isWritten = await write(row.cell, row, durable);
      if (isWritten && wasRemoved) await undone.done(key);
      return isWritten;
    },
    async scan() {
      outbox.check();
      await looks.look();
      await presence.judge();
      await rows.corrected();
      for (const act of beforeScanEnds) await act();
      outbox.check();
      return { problems: [], gone: rows.takeGone() };
    },
    *open() {
      for (const row of index.byId.values()) yield shown(row);
    },
    openCount: () => index.byId.size,
    getOpen(id) {
      const row = index.byId.get(id);
      return row && shown(row);
    },
    isOpen: (id) => index.byId.has(id),
    unreadable: () => undefined,
    openUnderRoot: (root) => index.ofRoot.get(root) ?? 0,
    version: () => index.changes,
    changedSince: index.changedSince,
    read,
    /** The last look is recent enough, because the parent is advanced again when a child ends. */
    async readChild(id, parent) {
      const row = index.byId.get(id);
      const known = row === undefined ? rows.ended(id) : placed(row);
      if (known !== undefined) return known;
      return ownChildren(parent.id)?.has(id) === false ? undefined : read(id);
    },
    ...taskLists({ ledger, outbox, looks, presence }),
    async claim(id, agent, { atMost } = {}) {
      const row = index.byId.get(id);
      if (row === undefined || row.state === 'active') return undefined;
      await presence.join();
      await presence.renewIfLate();
      return index.byId.get(id) === row ? take(row, agent, { isTakeOver: false, atMost }) : undefined;
    },
    async takeOver(id) {
      const row = index.byId.get(id);
      if (row?.state !== 'active' || isHeld(row)) return undefined;
      await presence.join();
      return index.byId.get(id) === row ? take(row, row.owner!.agent, { isTakeOver: true }) : undefined;
    },
    async orphans() {
      return [...index.byId.values()].flatMap((row) => (row.state === 'active' && !isHeld(row) ? [row.id] : []));
    },
    release: (claim, task) => move(claim, task, 'pending', true),
    park: (claim, task, { durable = true } = {}) => move(claim, task, 'waiting', durable),
    settle,
    async reopen(id, task) {
      await outbox.flush();
      const entry = await ledger.get(TASK + id);
      const before = entry && parseRow(entry.value);
      if (before === undefined || !isEnded(before.state)) return false;
      const cell: Cell = { key: entry!.key, rev: entry!.rev };
      if (!(await outbox.set(cell, rowValue({ task, state: 'pending' })))) return false;
      looks.learn({ key: cell.key, rev: cell.rev, value: rowValue({ task, state: 'pending' }).print(), live: true });
      return true;
    },
  };

  /** If another process had held the task, it would have a new cell. */
  function ownChildren(id: string | undefined): Set<string> | undefined {
    const row = id === undefined ? undefined : index.byId.get(id);
    return row && childrenOf.get(row.cell);
  }

  function placed(row: Row): Placed {
    const { state, owner } = row;
    return defined({ task: index.withWaits(row), state, owner });
  }

  function shown(row: Row): OpenTask {
    return { ...placed(row), state: row.state, held: isHeld(row) };
  }

  /**
   * Unsent changes of this process count as done. Nobody else writes to a task that it holds, until
   * it is declared dead; from then on its writes fail.
   */
  async function read(id: string, { maxAgeMs = 0 } = {}): Promise<Placed | undefined> {
    const known = index.byId.get(id);
    const isHere = (known?.state === 'active' && known.owner?.peer === me) || outbox.unsent(TASK + id) !== undefined;
    const own = isHere || looks.isFresh(maxAgeMs) ? (known ?? rows.ended(id)) : undefined;
    const entry = own ? undefined : await ledger.get(TASK + id);
    const now = own ?? (entry && parseRow(entry.value));
    return now && { ...now, task: index.withWaits(now) };
  }

  async function take(
    row: Row,
    agent: string,
    { isTakeOver, atMost }: { isTakeOver: boolean; atMost?: number | undefined },
  ): Promise<Claim | undefined> {
    const isFree = outbox.isOwn(row.cell) && atMost === undefined;
    const next: Row = { ...row, state: 'active', owner: { agent, peer: me } };
    const limit = roleFacts(row.task.role).takesCapacity ? atMost : undefined;
    index.add(next);
    if (isFree) outbox.setLater(row.cell, rowValue(next));
    else if (!(await outbox.set(row.cell, rowValue(next, limit)))) {
      await rows.corrected();
      return undefined;
    }
    return { id: row.id, agent, task: row.task, from: row.state, recovered: isTakeOver };
  }

  function claimed(claim: Claim): Row | undefined {
    const row = index.byId.get(claim.id);
    return row?.state === 'active' && row.owner?.peer === me ? row : undefined;
  }

  async function move(claim: Claim, task: Task, state: OpenState, durable: boolean): Promise<boolean> {
    outbox.check();
    const row = claimed(claim);
    if (row === undefined) return false;
    const next: Row = { id: row.id, task, state, cell: row.cell };
    index.add(next);
    return write(row.cell, next, durable);
  }

  async function settle(
    claim: Claim,
    task: Task,
    state: EndedState,
    { durable = true }: { durable?: boolean } = {},
  ): Promise<boolean> {
    outbox.check();
    const row = claimed(claim);
    if (row !== undefined) {
      rows.end(row.id, { task, state });
      if (await write(row.cell, { task, state }, durable)) return true;
    }
    outbox.line({ log: 'evidence', text: JSON.stringify({ task, state, peer: me }), tag: claim.id }, 'views');
    return false;
  }

  async function write(cell: Cell, placed: Placed, durable: boolean): Promise<boolean> {
    if (durable) {
      const isWritten = await outbox.set(cell, rowValue(placed));
      if (!isWritten) await rows.corrected();
      return isWritten;
    }
    outbox.setLater(cell, rowValue(placed));
    return true;
  }
}
