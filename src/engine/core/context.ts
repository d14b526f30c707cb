/** What the engine is given. Everything of the world comes in here, so a test can own all of it. */
import type { Config } from '../../domain/config/config.js';
import type { Price } from '../../domain/budget/price.js';
import type { Event } from '../../domain/event.js';
import type { Problem } from '../../domain/problem.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import type { Agents } from '../../ports/agents.js';
import type { Ballot } from '../../ports/ballot.js';
import type { Bids } from '../../ports/bids.js';
import type { Bus } from '../../ports/bus.js';
import type { Boards } from '../../ports/boards.js';
import type { CheckIns } from '../../ports/check-ins.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Desk } from '../../ports/board-tools.js';
import type { Folder } from '../../ports/workspace-files.js';
import type { Gate } from '../../ports/gate.js';
import type { Growth } from '../../ports/creation-rate.js';
import type { Inbox } from '../../ports/inbox.js';
import type { Model } from '../../ports/model.js';
import type { Pauses } from '../../ports/pauses.js';
import type { Shell } from '../../ports/shell.js';
import type { Store } from '../../ports/store.js';
import type { Tool } from '../../tools/core/tool.js';
import type { Lines } from './ready-queue.js';
import type { Pace } from './pace.js';

export interface Parts {
  store: Store;
  model: Model;
  folder: Folder;
  agents: Agents;
  tools: ReadonlyMap<string, Tool>;
  /** Judges what agents want to do; absent only in tests of other things. */
  gate?: Gate;
  shell?: Shell;
  ballot?: Ballot;
  inbox?: Inbox;
  boards?: Boards;
  desk?: Desk;
  checkIns?: CheckIns;
  /** Notes on channels; absent only in tests of other things. */
  bus?: Bus;
  /** Who is paused; absent only in tests of other things. */
  pauses?: Pauses;
  /** Who waits for whom; made by the engine. */
  waits?: {
    refuse(asker: Task, child: WantedChild): Promise<Problem | undefined>;
    isHeldUp(task: string): boolean;
    holderOf(key: string): string | undefined;
    lookAgain(key: string): Promise<void>;
  };
  /** Tasks whose conversation cannot be read; made by the engine. */
  held?: Held;
  /** Which tasks are under way and which only wait for their turn; made by the engine. */
  lines?: Lines;
  /** How agents did so far and what they bid before; absent: nothing is known of either. */
  bids?: Bids;
  /** Other processes agree that a root is over; made by the engine. */
  votes?: { agree(root: Task): Promise<{ agreed: number; of: number } | { until: string }> };
  /** Brings what is known of the store up to date in the middle of a pass; made by the engine. */
  lookAgain?: () => Promise<void>;
  /** Told when a pass is over; absent where no history is kept. */
  audit?: Audit;
  config: Config;
  /** What a model costs; unknown: its calls cannot be reserved in money. */
  price?: (model: string) => Price | undefined;
  clock: Clock;
  ids: Ids;
  /** What all processes made lately; absent: each counts for itself. */
  growth?: Growth;
  /** How fast trees grow; absent outside of an engine. */
  pace?: Pace;
  /** Which agents this process hosts; undefined: all. */
  hosts?: ReadonlySet<string>;
  /** Tasks of a pass are worked on one after the other, so that a run can be repeated exactly. */
  inTurn?: boolean;
  /** For people who look on. Must not throw. */
  watchers?: Watchers;
}

/** Collects events and commits them to history after each pass. */
export interface Audit {
  note(event: Event): void;
  /** A pass is over. Commits start at least `gapMs` apart. */
  passed(gapMs?: number): void;
  /** Commits the rest; resolves when no commit is running. */
  close(): Promise<void>;
}

/** Tasks whose conversation file could not be read. */
export interface Held {
  /** `stamp` identifies the content that could not be read; the file may have changed since. */
  add(task: string, session: string, stamp: string): void;
  /** Tasks whose conversation still has the content that could not be read. */
  look(): Promise<ReadonlySet<string>>;
}

export interface Watchers {
  text?(task: Task, agent: string, text: string): void;
  event?(event: Event): void;
  problem?(problem: Problem): void;
}

export type EventDetails = Omit<Event, 'at' | 'name' | 'peer'>;

/** Adds a line to history and tells those who look on. */
export function record(parts: Parts, name: Event['name'], details: EventDetails): void {
  const event: Event = { at: parts.clock.now().toISOString(), name, peer: parts.store.peer.id, ...details };
  parts.store.record(event);
  parts.watchers?.event?.(event);
}
