/**
 * A note: something told on a channel, owed to nobody. Who tells it and when is stamped by the engine, never by the teller. The
 * types below are those that the program itself tells and reads; on channels that people name, anything may be said.
 */
import type { AgentState } from '../agent/agent-state.js';
import type { DependencyType, Resolution, Urgency } from './dependency.js';

export const NOTE_PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type NotePriority = (typeof NOTE_PRIORITIES)[number];

/** Channels that the engine alone writes. `team/<task>` and those that `guild.yaml` names come beside them. */
export const OWN_CHANNELS = ['state', 'dependency', 'task', 'help'] as const;

/** `team/<task>`: where the members of that task's team speak. */
export const TEAM_CHANNELS = 'team/';

/** Also the sender of what the program itself tells. */
export { ENGINE } from '../task/task.js';

/** How long a note is kept where nothing else is said. */
export const NOTE_TTL_MS = 7 * 24 * 3600 * 1000;

export interface Note {
  /** Derived from what it tells where that is possible, so that telling twice is telling once. */
  id: string;
  channel: string;
  /** Stamped: the agent, `human`, or `engine`. */
  from: string;
  /** Stamped: ISO time. */
  at: string;
  priority: NotePriority;
  /** For one reader; absent: for all of the channel. */
  to?: string;
  /** The task this is about. */
  task?: string;
  /** Of that task, where its name does not say it. */
  root?: string;
  /** ISO time after which nobody needs it. Absent: it is kept for a week, and then for as long as its neighbours are. */
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
      /** What happened, and to what: `task.parked t1`. */
      trigger: string;
      /** Open roots it takes part in, the newest of them where there are many. */
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
  /** `steppedBack`: for whom it left the field; it can still be asked when that one fails. */
  | { type: 'dependency_offer'; dependency: string; provider: string; fitness: number; steppedBack?: string }
  | { type: 'dependency_award'; dependency: string; requester: string; provider: string; why: string }
  | { type: 'dependency_resolution'; provider: string; requester: string; dependency: string; resolution: Resolution }
  | { type: 'help_request'; requester: string; taskContext: string; requiredCapabilities: string[]; estimate?: string }
  | { type: 'help_answer'; helper: string; requester: string; accepted: boolean; why: string }
  /** Everybody is asked twice: `phase` 1, then 2. */
  | { type: 'completion_probe'; peer: string; root: string; ballot: number; phase?: 1 | 2 }
  /** `mark` grows with all that this process does for the root. */
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
