/**
 * A note: information on a channel that needs no answer. The engine stamps its sender and time. The
 * program itself publishes and reads the types below; on channels of guild.yaml only `said` is
 * used.
 */
import type { AgentState } from '../agent/agent-state.js';
import type { DependencyType, Resolution, Urgency } from './dependency.js';

export const NOTE_PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type NotePriority = (typeof NOTE_PRIORITIES)[number];

/**
 * Channels that only the engine writes. There are also `team/<task>` and the channels of
 * `guild.yaml`.
 */
export const OWN_CHANNELS = ['state', 'dependency', 'task', 'help'] as const;

/** `team/<task>`: the channel of the team of that task. */
export const TEAM_CHANNELS = 'team/';

/** Also the sender of the program's own notes. */
export { ENGINE } from '../task/task.js';

/** How long a note is kept by default. */
export const NOTE_TTL_MS = 7 * 24 * 3600 * 1000;

export interface Note {
  /** Derived from the content if possible, so that publishing twice has no effect. */
  id: string;
  channel: string;
  /** Filled in by the engine: the agent, `human`, or `engine`. */
  from: string;
  /** Filled in by the engine: ISO time. */
  at: string;
  priority: NotePriority;
  /** The only reader; absent for all readers of the channel. */
  to?: string;
  task?: string;
  /** The root of that task, if its id does not show it. */
  root?: string;
  /** Outside sources that influenced the agent who sent it. */
  taint?: string[];
  /**
   * ISO time after which it is obsolete. Without it, the note is kept for a week or as long as its
   * file.
   */
  expires?: string;
  body: NoteBody;
}

export type NoteBody =
  | {
      type: 'state_change';
      agent: string;
      fromState: AgentState;
      toState: AgentState;
      reason: string;
      /** An event and its subject: `task.parked t1`. */
      trigger: string;
      /** Open roots in which it takes part; only the newest if there are many. */
      roots?: string[];
    }
  | {
      type: 'dependency_request';
      requester: string;
      dependency: string;
      dependencyType: DependencyType;
      requirements: Record<string, unknown>;
      urgency: Urgency;
      deadline?: string;
    }
  /** `steppedBack`: the agent it gave way to; it can still be asked if that agent fails. */
  | { type: 'dependency_offer'; dependency: string; provider: string; fitness: number; steppedBack?: string }
  | { type: 'dependency_award'; dependency: string; requester: string; provider: string; why: string }
  | { type: 'dependency_resolution'; provider: string; requester: string; dependency: string; resolution: Resolution }
  | { type: 'help_request'; requester: string; taskContext: string; requiredCapabilities: string[]; estimate?: string }
  | { type: 'help_answer'; helper: string; requester: string; accepted: boolean; why: string }
  /** All peers are asked twice: `phase` 1, then 2. `ballot` is the number of the vote round. */
  | { type: 'completion_probe'; peer: string; root: string; ballot: number; phase?: 1 | 2 }
  /** `mark` grows with everything that this process does for the root. */
  | {
      type: 'completion_vote';
      peer: string;
      root: string;
      ballot: number;
      phase?: 1 | 2;
      ready: boolean;
      mark?: number;
      why?: string;
    }
  | { type: 'deadlock'; cycle: string[]; victim: string; rule: string; cancelled: string }
  /** `round`, `as`: in the discussion of a team. */
  | { type: 'said'; text: string; round?: number; as?: 'update' | 'vote' | 'failure' | 'coordinator' };
