/**
 * A task: work that an agent, a person or the engine owes to an asker. Runs, delegations, stages of
 * patterns and approvals are all tasks and form one tree. The state is not in the record: it is the
 * folder of the file.
 */
import type { Budget, BudgetName } from '../budget/budget.js';
import { defined } from '../defined.js';
import type { Certificate } from './certificate.js';
import type { Problem } from '../problem.js';
import { roleFacts, type Role } from './role.js';
import type { Schedule } from '../schedule.js';
import type { Usage } from '../budget/usage.js';

export const OPEN_STATES = ['pending', 'active', 'waiting'] as const;
export const ENDED_STATES = ['completed', 'failed'] as const;
export const TASK_STATES = [...OPEN_STATES, ...ENDED_STATES] as const;
export type OpenState = (typeof OPEN_STATES)[number];
export type EndedState = (typeof ENDED_STATES)[number];
export type TaskState = (typeof TASK_STATES)[number];

/** The version that this program writes. A record of a later version is not interpreted. */
export const TASK_VERSION = 1;
export const HUMAN = 'human';
/**
 * The program itself, as the addressee of tasks that only a rule resolves. No agent may have this
 * name.
 */
export const ENGINE = 'engine';

/**
 * The conditions that a parked task waits for, so that a pass knows whether to advance it without
 * opening other files.
 */
export interface Waits {
  /** Ids of tasks; the task is advanced when one of them has ended. */
  tasks?: string[];
  /** ISO time; the task is advanced after this time. */
  until?: string;
  /** A file that could not be read; the task is advanced when the file changes. */
  file?: string;
  /** The budget that is too small until one of `tasks` returns its share. */
  budget?: BudgetName;
}

/** The part of a conversation that was durable when its task last left a process. */
export interface Written {
  messages: number;
  /** Role and time of the last of these messages. */
  last: string;
  /** Fingerprints of all messages when the task left its last process. */
  prints?: string;
  /** The machine that keeps secrets which the conversation has read, in a shared store. */
  secrets_on?: string;
}

export interface LostTaker {
  /** ISO time at which the loss was noticed. */
  at: string;
  agent: string;
  messages: number;
  /** How many other tasks the process worked on; absent: none, so this task caused the loss. */
  beside?: number;
}

export interface Task {
  id: string;
  parent?: string;
  root: string;
  /** How often in a row agents asked on their own initiative; stages of patterns do not count. */
  depth: number;
  role: Role;
  type?: string;
  description: string;
  /** The agent that takes it; absent: it is offered. */
  to?: string;
  from?: string;
  requirements: string[];
  /** Ids of tasks that must be completed first. */
  dependencies: string[];
  /** Files of the workspace that its agent gets to see. */
  attachments?: string[];
  context: Record<string, unknown> & { original_goal?: string };
  priority: 'A' | 'B' | 'C' | 'D';
  /** A schedule, which is never done itself: each of its due times creates a run. */
  schedule?: Schedule;
  budget?: Budget;
  created_by?: string;
  created_at: string;
  claimed_by?: string;
  claimed_at?: string;
  /** How often it was opened again after a failure. */
  retries?: number;
  /** How many processes in a row died with this task without progress. */
  attempts: number;
  /** The agents that had it when those processes died. */
  lost?: LostTaker[];
  session?: string;
  /** How much of that conversation is safely written. */
  written?: Written;
  waits?: Waits;
  /** The children that were created to find an agent for it. */
  bids?: string[];
  result?: string;
  error?: Problem;
  ended_at?: string;
  certificate?: Certificate;
  /** What the task and all its descendants spent, written when the task parks or ends. */
  usage?: Usage;
  /** Own spending alone. */
  own_usage?: Usage;
  version: number;
  /** Other fields of the file, kept unchanged. */
  extra?: Record<string, unknown>;
}

export interface Placed {
  task: Task;
  state: TaskState;
  /** The holder of the claim while it is active. */
  owner?: { agent: string; peer: string };
  /** Text or outline of its conversation, if a rule passes it on. */
  conversation?: string;
  /** The result in full, if `task.result` is shortened. */
  fullResult?: string;
}

export function isEnded(state: TaskState): state is EndedState {
  return state === 'completed' || state === 'failed';
}

/** A person has to do it. A schedule for a person is not work yet. */
export function isForHuman({ to, role }: Pick<Task, 'to' | 'role'>): boolean {
  return to === HUMAN && !roleFacts(role).isSchedule;
}

export function makeTask(fields: Partial<Task> & Pick<Task, 'id' | 'description' | 'created_at'>): Task {
  return {
    root: fields.id,
    depth: 0,
    role: rootRole(fields.schedule),
    requirements: [],
    dependencies: [],
    priority: 'C',
    attempts: 0,
    version: TASK_VERSION,
    ...fields,
    context: { original_goal: fields.description, ...fields.context },
  };
}

/** The role of a task without a parent. */
export function rootRole(schedule: Schedule | undefined): Role {
  return schedule === undefined ? 'root' : 'schedule';
}

/** A child that a rule wants. The engine creates the task. */
export interface WantedChild {
  id: string;
  role: Role;
  /** Absent: it is offered. */
  to?: string;
  /** Absent: the agent of the parent. */
  from?: string;
  type?: string;
  description: string;
  /** Absent: the parent's. */
  priority?: Task['priority'];
  requirements?: string[];
  context?: Record<string, unknown>;
  dependencies?: string[];
  budget?: Budget;
  session?: string;
}

export function makeChild(parent: Task, wanted: WantedChild, createdAt: string): Task {
  return makeTask({
    id: wanted.id,
    parent: parent.id,
    root: parent.root,
    depth: parent.depth + (roleFacts(wanted.role).countsTowardDepth ? 1 : 0),
    role: wanted.role,
    type: wanted.type,
    description: wanted.description,
    to: wanted.to,
    requirements: wanted.requirements ?? [],
    from: wanted.from ?? parent.to,
    context: defined({
      original_goal: parent.context.original_goal ?? parent.description,
      // Taint is inherited by every descendant.
      taint: parent.context['taint'],
      ...wanted.context,
    }),
    dependencies: wanted.dependencies ?? [],
    priority: wanted.priority ?? parent.priority,
    budget: wanted.budget,
    session: wanted.session,
    created_by: parent.to,
    created_at: createdAt,
  });
}

/**
 * Keys of a task's context that only the program sets. A prompt does not show them, a caller may
 * not pass them on, and a field of a board with such a name is not context.
 */
export const PROGRAM_KEYS: readonly string[] = [
  'taint',
  'received',
  'request',
  'mail',
  'draft',
  'breakdown',
  'dependency',
  'help',
  'forked_from',
  'follows',
  'first_request',
  'asker_session',
];
