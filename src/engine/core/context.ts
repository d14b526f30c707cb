/**
 * The dependencies of the engine. `Ports` comes from outside, and every port is required: a missing
 * gate is a type error, not a call that runs unjudged. `EngineContext` adds the engine's own state.
 */
import { defined } from '../../domain/defined.js';
import type { Price } from '../../domain/budget/price.js';
import type { Config } from '../../domain/config/config.js';
import type { Event } from '../../domain/event.js';
import type { Problem } from '../../domain/problem.js';
import type { Progress } from '../../domain/progress.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import type { Agents } from '../../ports/agents.js';
import type { Ballot } from '../../ports/ballot.js';
import type { Bids } from '../../ports/bids.js';
import type { BoardTools } from '../../ports/board-tools.js';
import type { Boards } from '../../ports/boards.js';
import type { ContentBinding } from '../../ports/consent/bound-content.js';
import type { Bus } from '../../ports/bus.js';
import type { CheckIns } from '../../ports/check-ins.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Consent } from '../../ports/consent/index.js';
import type { CreationRate } from '../../ports/creation-rate.js';
import type { Gate } from '../../ports/gate.js';
import type { HeldFiles } from '../../ports/held-files.js';
import type { Inbox } from '../../ports/inbox.js';
import type { Model, ToolSpec } from '../../ports/model.js';
import type { Surroundings } from '../../rules/prompts/orientation.js';
import type { PrivateTexts } from '../../ports/consent/private-texts.js';
import type { FileTaint } from '../../ports/consent/file-taint.js';
import type { Pauses } from '../../ports/pauses.js';
import type { EditedSessions } from '../../ports/reading/edited-sessions.js';
import type { Machine } from '../../ports/reading/machine.js';
import type { Project } from '../../ports/reading/project.js';
import type { Schedules } from '../../ports/reading/schedules.js';
import type { Shell } from '../../ports/shell.js';
import type { Store } from '../../ports/store/index.js';
import type { Web } from '../../ports/reading/web.js';
import type { WorkspaceFiles } from '../../ports/workspace-files.js';
import type { Tool } from '../../tools/core/tool.js';
import type { Message, Pins, ToolCall } from '../../domain/session/session.js';
import type { Offer } from '../../rules/coordination/mesh.js';
import type { PublishedState } from '../../rules/coordination/published-states.js';
import type { Agent } from '../../domain/agent/agent.js';
import type { Fit } from '../../rules/staffing/offer.js';
import type { Outages } from './outages.js';
import type { Pace } from './pace.js';
import type { ReadyQueue } from './ready-queue.js';

export interface Ports extends Omit<Store, 'close'> {
  model: Model;
  workspaceFiles: WorkspaceFiles;
  agents: Agents;
  /** By name. Plugins may change theirs. */
  tools: Pick<ReadonlyMap<string, Tool>, 'get' | 'has'>;
  gate: Gate;
  content: ContentBinding;
  fileTaint: FileTaint;
  privateTexts: PrivateTexts;
  shell: Shell;
  web: Web;
  machine: Machine;
  project: Project;
  ballot: Ballot;
  consent: Consent;
  inbox: Inbox;
  heldFiles: HeldFiles;
  boards: Boards;
  boardTools: BoardTools;
  checkIns: CheckIns;
  schedules: Schedules;
  editedSessions: EditedSessions;
  bus: Bus;
  pauses: Pauses;
  bids: Bids;
  creationRate: CreationRate;
  audit: Audit;
  config: Config;
  /** The machine, as prompts describe it. */
  surroundings: Surroundings;
  /** Price of a model. Undefined: calls cannot be reserved in money. */
  price: (model: string) => Price | undefined;
  clock: Clock;
  ids: Ids;
  /** Agents this process hosts; undefined: all. */
  hosts: ReadonlySet<string> | undefined;
  /** The person and the machine, where several people may answer: `ana@laptop`. */
  desk: string | undefined;
  /** Whether this process may run an agent: on this machine, and with a key for its model. */
  isHere: (agent: string, task?: Task) => boolean;
  /** Peer ids of this process whose store failed. Their tasks go back, and no loss is counted. */
  abandoned: ReadonlySet<string>;
  /** Advances the tasks of a pass one after the other, so that a run can be repeated exactly. */
  isSequential: boolean;
  watchers: Watchers;
}

export interface EngineContext extends Ports {
  waits: Waits;
  votes: Votes;
  queue: ReadyQueue;
  unreadable: UnreadableSessions;
  pace: Pace;
  outages: Outages;
  /** Messages of reported faults that affect one thing only; each is reported once. */
  faults: Set<string>;
  /** The version of the open tasks whose dependencies were checked last. */
  lastLook: { version: number };
  /** Effects started here that have no outcome yet, counted by root. */
  effectsUnderWay: Map<string, number>;
  /** Agents whose notes are being added to a conversation now. */
  hearingNotes: Set<string>;
  /** Tasks with the same requirements and asker fit the same agents, so answers are cached. */
  fitCache: WeakMap<ReadonlyMap<string, Agent>, Map<string, Fit>>;
  /** State folded from the messages of conversations, incrementally for each message list. */
  folds: Folds;
  /** Offers and states that other agents published, kept up to date from the first call on. */
  heardNotes(): HeardNotes;
  /** Refreshes the view of the store in the middle of a pass. */
  lookAgain(): Promise<void>;
}

interface Folds {
  /** Pinned prompts by their hashes. */
  heads: Map<string, { system: string; tools: ToolSpec[] }>;
  headTokens: WeakMap<object, number>;
  /** The last head that was built for each agent, and what it was built from. */
  built: WeakMap<Agent, Built>;
  background: WeakMap<readonly Message[], { seen: number; ids: Set<string> }>;
  taint: WeakMap<readonly Message[], TaintFold>;
  facts: (messages: readonly Message[]) => MessageFacts;
}

/** The outside sources found in the first `seen` messages of a conversation. */
export interface TaintFold {
  seen: number;
  calls: Map<string, ToolCall>;
  heard: Set<string>;
  /** The task that the next message belongs to, and all tasks seen so far. */
  owner: string | undefined;
  owners: Set<string>;
}

/** See `message-facts`. */
export interface MessageFacts {
  /** The pins and the agent file that the latest message with such fields sets. */
  pins?: Pins;
  definition?: string;
  /** Tasks that continued the conversation, each with the index of its first message. */
  tasks: Map<string, number>;
  hasNewDay: boolean;
  hasToolNews: boolean;
  hasPrivate: boolean;
  isCompacted: boolean;
  /** The estimated size of all messages. */
  tokens: number;
  /** Calls of the last answer that have no result yet. */
  openCalls: Set<string>;
  /** An earlier call lacks its result, or a result its call. */
  hasGaps: boolean;
}

interface Built {
  head: { system: string; tools: ToolSpec[] };
  pins: Pins;
  stored(): Promise<void>;
  sources: readonly unknown[];
}

export interface HeardNotes {
  offers: Map<string, Map<string, Offer>>;
  states: Map<string, PublishedState>;
}

interface Waits {
  /** Why this child must not be created: it would close a cycle. */
  refuse(asker: Task, child: WantedChild): Promise<Problem | undefined>;
  isHeldUp(task: string): boolean;
  holderOf(key: string): string | undefined;
  lookAgain(key: string): Promise<void>;
}

/** Other processes confirm that a root is complete. */
interface Votes {
  agree(root: Task): Promise<{ agreed: number; of: number } | { until: string }>;
}

/** Collects events and commits them to history after each pass. */
export interface Audit {
  note(event: Event): void;
  /** A pass is over: the noted events go into the next commit, within a few seconds. */
  passed(): void;
  /** Commits the changes noted so far; resolves when no commit is running. */
  close(): Promise<void>;
}

/** For a workspace without history. */
export const NO_AUDIT: Audit = { note() {}, passed() {}, async close() {} };

/** Tasks whose conversation file could not be read. */
export interface UnreadableSessions {
  /** `stamp` identifies the content that could not be read; the file may have changed since. */
  add(task: string, session: string, stamp: string): void;
  /** Tasks whose conversation still has the content that could not be read. */
  look(): Promise<ReadonlySet<string>>;
}

/** Callbacks for onlookers; they must not throw. */
export interface Watchers {
  /** Reports what happens right now: words of a turn, a tool and its result. */
  progress(progress: Progress): void;
  event(event: Event): void;
  problem(problem: Problem): void;
}

/** Fills in the callbacks that the caller did not give. */
export function watchers(given: Partial<Watchers> = {}): Watchers {
  return { progress() {}, event() {}, problem() {}, ...given };
}

type EventDetails = Omit<Event, 'at' | 'name' | 'peer'>;

type Recorder = Pick<Ports, 'clock' | 'presence' | 'events' | 'watchers'>;

/** Adds a line to the event log and passes it to the watchers. */
export function record(context: Recorder, name: Event['name'], details: EventDetails): void {
  const { clock, presence, events, watchers: onlookers } = context;
  const event: Event = defined({ at: clock.now().toISOString(), name, peer: presence.peer.id, ...details });
  events.append(event);
  onlookers.event(event);
}
