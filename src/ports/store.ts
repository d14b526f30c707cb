/**
 * Where tasks, conversations and history live. The verbs are those of the domain, not get and set, because a safe
 * claim cannot be built on get and set. One contract suite (`test/contract/store.ts`) runs on every adapter.
 *
 * Promises that every adapter keeps:
 * - What a resolved call wrote is durable, except where a contract says otherwise. Of tasks that have a parent, and of tasks put
 *   back, what was written is never torn, but a power cut may undo the latest steps: whoever looks next takes them again.
 * - A claim has one winner. While a claim is held, nobody else changes that task.
 * - Ended wins: once a task lies in `completed` or `failed`, any other copy of it is a leftover and is swept.
 *
 * A verb returns a promise if another machine could have to answer it. Three kinds of verbs do not: those that read what
 * this process knows since its last scan (`open`, `known`, `isOpen`, `heldFile`, `openCount`, `openUnderRoot`, `changes`,
 * `changedSince`), estimates of how many peers there are (`peersStamp`, `rank`), and messages that nobody answers
 * (`record`, `showFile`, `ringOthers`). Whoever decides by a synchronous verb and acts by an asynchronous one reserves
 * what it decided on before the first await, or checks it again under the claim.
 */
import type { Event } from '../domain/event.js';
import type { Intent } from '../domain/task/intent.js';
import type { Outcome } from '../domain/task/outcome.js';
import type { Peer, Rank } from '../domain/peer.js';
import type { Problem } from '../domain/problem.js';
import type { Message, Session, SessionHeader } from '../domain/session/session.js';
import type { EndedState, OpenState, Placed, Task } from '../domain/task/task.js';

/** The right to change one task, until it is parked, released or settled. */
export interface Claim {
  readonly id: string;
  readonly agent: string;
  /** The record as it was when claimed; what it becomes is passed to park, release or settle. */
  readonly task: Task;
  readonly from: OpenState;
  /** It was taken over from a peer that died: its conversation may have a torn end. */
  readonly recovered: boolean;
  /** How many conversations that peer had had and shown to nobody yet; they are shown now. */
  readonly unseen?: number;
}

export interface Scan {
  /** Problems that were not reported before: held and quarantined files. */
  problems: Problem[];
  /** Files that were not told of before and lie where tasks lie, but are none. Nothing was done about them. */
  strays?: Problem[];
  /** Ids that were open at the last look and lie in no open folder now, though this process did not end them. */
  gone?: string[];
}

/** One task as a pass sees it: enough to know whether looking at it is worth anything. */
export interface OpenTask extends Placed {
  state: OpenState;
  /** Held by a live peer. */
  held: boolean;
}

/** A claim that a live peer has. */
export interface Hold {
  task: string;
  peer: string;
  /** Of two claims the later one has the greater number; those of the same moment may have the same. */
  since: bigint;
}

export type SessionOpened =
  | {
      kind: 'open';
      session: Session;
      /** What a person changed since this process last saw it. */ edited?: SessionEdit;
    }
  | { kind: 'missing' }
  /** It does not parse: a person may be editing it. Nothing may be done from it now. `stamp`: of what was read. */
  | { kind: 'held'; problem: Problem; stamp: string };

interface SessionEdit {
  added: number;
  changed: number;
  removed: number;
  /** A short line diff for the event. */
  diff: string;
}

export type Effect =
  | { state: 'none' }
  | { state: 'started'; digest: string; at: string }
  | { state: 'done'; digest: string; outcome: Outcome };

/**
 * `behind`: resolves before the change is kept. Changes of this kind are kept in order, and before any that is not; until then only
 * this process sees them, and if it dies they are as if they had not been asked for. Only for what follows from a conversation
 * or from other tasks, so that whoever looks next comes to it again.
 */
export interface Haste {
  behind?: boolean;
}

export interface Store {
  // Tasks
  /** False if a task with this id exists in any state. With `behind` the caller has just looked: if somebody made it since, theirs stays. */
  create(task: Task, haste?: Haste): Promise<boolean>;
  /** Looks at the outside world again: what others changed since the last scan. `full` compares every file, not only folders. */
  scan(full?: boolean): Promise<Scan>;
  /** All open tasks as of the last scan and this process's own changes since. */
  open(): Iterable<OpenTask>;
  /** How many tasks are open; costs nothing. */
  openCount(): number;
  /** Version of the set of open tasks: it differs whenever that set may have changed. */
  changes(): number;
  /**
   * Ids of tasks that came, went or changed since `changes()` returned this number, oldest first, possibly repeated.
   * Undefined: that is too long ago.
   */
  changedSince(changes: number): readonly string[] | undefined;
  /** True also for a task whose file cannot be read now and which `open()` therefore omits. */
  isOpen(id: string): boolean;
  /** Why the file of an open task could not be read at the last scan: a person may be editing it. */
  heldFile(id: string): Problem | undefined;
  /** One of `open()`, by its id. */
  known(id: string): OpenTask | undefined;
  /** How many open tasks have this root, itself included, as far as is known here; costs nothing. */
  openUnderRoot(root: string): number;
  /** One task in any state, read now. */
  read(id: string): Promise<Placed | undefined>;
  /** Like `read`, for a child of a task that this process holds by this claim. It may skip lookups for what only the holder can create. */
  readPart(id: string, of: Claim): Promise<Placed | undefined>;
  /** Ended tasks, newest first, for people who ask; no pass calls this. `passedOver` is called for each that cannot be read. */
  ended(options?: { state?: EndedState; limit?: number; passedOver?: (one: Problem) => void }): Promise<Placed[]>;
  /**
   * Claims the task as this process knows it when it calls. Undefined if another peer was faster, the task has moved or
   * ended since, or its file no longer parses. Not durable: a claim means nothing after a power cut.
   */
  claim(id: string, agent: string): Promise<Claim | undefined>;
  /** Claims for this agent as they are now, without bids. */
  claimsFor(agent: string): Promise<Hold[]>;
  /** Takes over a claim whose peer is dead. Undefined if that peer is alive, or another was faster. */
  takeOver(id: string): Promise<Claim | undefined>;
  /** Ids of tasks whose holder is dead. */
  orphans(): Promise<string[]>;
  /** Puts it back among the pending, with what `task` says now. False: fenced out, nothing written. */
  release(claim: Claim, task: Task): Promise<boolean>;
  /** Puts it among the waiting. False: fenced out, nothing written. With `behind` only its place is kept: it waits for its open children. */
  park(claim: Claim, task: Task, haste?: Haste): Promise<boolean>;
  /** Ends it, with its result or error. False: fenced out or already ended; what was brought is kept as evidence. */
  settle(claim: Claim, task: Task, state: EndedState, haste?: Haste): Promise<boolean>;
  /** Puts an ended task back among the pending. False if it is not ended. */
  reopen(id: string, task: Task): Promise<boolean>;

  // Conversations
  /** The conversation, which grows with every `append`; undefined if it exists already. With `behind` its name may be lost in a power cut, until an `append` that is durable. */
  createSession(header: SessionHeader, messages: Message[], haste?: Haste): Promise<Session | undefined>;
  /** `repair`: its writer died; what it had half written at the end is set aside. */
  openSession(id: string, options?: { repair?: boolean }): Promise<SessionOpened>;
  /**
   * Adds at the end. `edited`: the file is not what this process last saw and nothing was written; open it again.
   * Without `durable` the bytes may be lost in a power cut, but never in a crash of the process, and never out of order.
   */
  append(id: string, messages: Message[], options: { durable: boolean }): Promise<'written' | 'edited'>;
  /** Puts another text in its place, as a person's save would. What is wrong with it, if it cannot be read as a conversation. */
  replaceSession(id: string, text: string): Promise<Problem | undefined>;
  /**
   * For a conversation that several tasks share: whether it is this task's turn. A task keeps its turn until it has ended,
   * however often it is parked; then the first to ask has it. Not durable: after a power cut the turn is asked for again.
   */
  takeTurn(session: string, task: string): Promise<boolean>;
  /** The same for a resource: durable when resolved, because what is done with it is not done again after a power cut. */
  keepTurn(key: string, task: string): Promise<boolean>;
  /** Ends the turn of this task early; does nothing if another task has it. Not durable: a power cut may undo it. */
  giveTurn(key: string, task: string): Promise<void>;
  /** The open task whose turn it is now. Undefined: the next to ask gets it. */
  turnOf(session: string): Promise<string | undefined>;
  /** Shows people that a conversation is over. A view; not durable. */
  markSession(id: string, status: SessionHeader['status']): Promise<void>;
  sessions(): Promise<string[]>;
  /** Differs whenever the conversation has changed, in whatever way. Undefined: there is none. */
  sessionStamp(id: string): Promise<string | undefined>;

  // Effects: an intent before, an outcome after, so that nothing is silently done twice
  effect(id: string): Promise<Effect>;
  /** False if it was begun before, by anybody, ever. */
  begin(id: string, digest: string, what: string): Promise<boolean>;
  finish(id: string, outcome: Outcome): Promise<void>;

  // Things kept by their hash
  putBlob(bytes: Uint8Array | string): Promise<string>;
  getBlob(hash: string): Promise<Buffer | undefined>;

  // Views
  /** A file for people, by its path in the workspace: replaced whole, never half seen, not durable, and nobody reads it back. */
  showFile(path: string, text: string): void;

  // Intents
  submit(intent: Intent): Promise<void>;
  /** In order of arrival. An intent stays until `done` is called, so a crash between the two repeats it: acting on one must be harmless twice. */
  intents(): Promise<Intent[]>;
  doneIntent(id: string): Promise<void>;

  // History
  /** Adds a line. Survives a crash of the process at once, and a power cut after the next `flush`. */
  record(event: Event): void;
  /** Everything done so far is durable when it resolves, and lies where people see it. `behind`: files may follow. */
  flush(haste?: { behind?: boolean }): Promise<void>;
  events(options?: { task?: string; limit?: number }): Promise<Event[]>;

  // Presence
  readonly peer: Peer;
  /** Makes this peer known to the others, as its first claim does. Calls share one attempt; cheap once it is known. */
  join(): Promise<void>;
  /** Live peers, this one included once it has joined. */
  peers(): Promise<Peer[]>;
  /** Differs whenever a peer came or left, as far as this process knows. */
  peersStamp(): string;
  /** The place of this peer among all, as far as this process knows: the first ones do what one can do for all. */
  rank(): Rank;
  /** Wakes the others after a change that rang no bell: they may have missed it too. */
  ringOthers(): void;
  /** Calls back when something may have changed. Only a hint: a scan finds the truth. */
  onRing(ring: () => void): Promise<() => Promise<void>>;
  /** Removes leftovers of dead processes. */
  sweep(): Promise<void>;
  /** Leaves: this peer's claims become orphans. */
  close(): Promise<void>;
}
