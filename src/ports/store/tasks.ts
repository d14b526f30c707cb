/**
 * Task records: create once, claim with one winner, park, settle. While a claim is held, only its
 * holder changes the task. An ended task stays ended: any other copy of it is a leftover to sweep.
 */
import type { Problem } from '../../domain/problem.js';
import type { EndedState, OpenState, Placed, Task } from '../../domain/task/task.js';

/** The right to change one task until it is parked, released or settled. */
export interface Claim {
  readonly id: string;
  readonly agent: string;
  /** The record at the time of the claim. Its successor is passed to park, release or settle. */
  readonly task: Task;
  readonly from: OpenState;
  /** Taken over from a dead peer: the conversation may have a torn end. */
  readonly recovered: boolean;
  /** Conversations of the dead peer that only its journal had; they have files now. */
  readonly unseen?: number;
}

export interface Scan {
  /** Unreadable and quarantined files, each reported once. */
  problems: Problem[];
  /** Files in task folders that are not tasks, each reported once and left alone. */
  strays?: Problem[];
  /**
   * Tasks that were open at the last scan and that others have ended or removed since. Completed
   * tasks may be left out.
   */
  gone?: string[];
}

/** An open task as a pass sees it. */
export interface OpenTask extends Placed {
  state: OpenState;
  /** Claimed by a live peer. */
  held: boolean;
}

/** A live peer's claim. */
export interface Hold {
  task: string;
  peer: string;
  /** Increases with time; claims of the same instant may share a number. */
  since: bigint;
}

/**
 * Writes are durable when they resolve, unless `durable` is false: then the change may follow, in
 * order and before any durable one. If the process dies first, the change is as if never requested.
 * Pass false only for changes that the next reader derives again.
 */
export interface WriteOptions {
  durable?: boolean;
}

export interface EndedOptions {
  state?: EndedState;
  /** Only tasks of this tree. */
  root?: string;
  limit?: number;
}

export interface Tasks {
  /** False if a task with this id exists in any state. */
  create(task: Task, options?: WriteOptions): Promise<boolean>;
  /** Refreshes this process's view of the store. `full` compares every file, not only folders. */
  scan(full?: boolean): Promise<Scan>;
  /** Open tasks as of the last scan plus this process's own changes. */
  open(): Iterable<OpenTask>;
  openCount(): number;
  /** One of `open()` by id. */
  getOpen(id: string): OpenTask | undefined;
  /** True also for a task whose file cannot be read now; `open()` omits it. */
  isOpen(id: string): boolean;
  /** Why the file of an open task could not be read at the last scan. */
  unreadable(id: string): Problem | undefined;
  /** Number of open tasks with this root, the root included. */
  openUnderRoot(root: string): number;
  /** Version of the open-task set: it changes whenever that set may have changed. */
  version(): number;
  /** Ids changed since that version, oldest first, possibly repeated. Undefined: too long ago. */
  changedSince(version: number): readonly string[] | undefined;
  /** A task in any state. `maxAgeMs`: the answer may be this old; absent: read now. */
  read(id: string, options?: { maxAgeMs?: number }): Promise<Placed | undefined>;
  /**
   * Like `read`, for a child of a claimed task. May skip lookups that only the holder could affect.
   */
  readChild(id: string, parent: Claim): Promise<Placed | undefined>;
  /** Ended tasks, newest first. */
  ended(options?: EndedOptions): Promise<Placed[]>;
  /**
   * Claims the task as this process knows it at the call. Undefined: another peer was faster, the
   * task moved or ended, or its file no longer parses. Not durable: a power cut undoes claims.
   * `atMost`: the agent's limit. A store that knows all claims refuses one beyond it; others leave
   * it to `claimsFor`.
   */
  claim(id: string, agent: string, options?: { atMost?: number }): Promise<Claim | undefined>;
  /** Current claims for this agent, without bids. */
  claimsFor(agent: string): Promise<Hold[]>;
  /** Takes over a dead peer's claim. Undefined if that peer is alive or another was faster. */
  takeOver(id: string): Promise<Claim | undefined>;
  /** Ids of tasks whose holder is dead. */
  orphans(): Promise<string[]>;
  /** Moves it back to pending with this record. False: fenced, nothing written. */
  release(claim: Claim, task: Task): Promise<boolean>;
  /**
   * Moves it to waiting. False: fenced, nothing written. Without `durable`, it waits for its open
   * children, whatever its record says.
   */
  park(claim: Claim, task: Task, options?: WriteOptions): Promise<boolean>;
  /** Ends the task. False: fenced or already ended; this record is then kept as evidence. */
  settle(claim: Claim, task: Task, state: EndedState, options?: WriteOptions): Promise<boolean>;
  /** Moves an ended task back to pending. False if it has not ended. */
  reopen(id: string, task: Task): Promise<boolean>;
}
