/**
 * A task: something owed by a taker to an asker. A run, a delegation, an advisor's consultation, an approval: all are
 * tasks, and the tree they form is the whole story of the work. The state is not in here: it is where the task lies.
 */
import type { Budget, BudgetName } from '../budget/budget.js';
import type { Certificate } from './certificate.js';
import type { Problem } from '../problem.js';
import { roleFacts, type Role } from './role.js';
import type { Usage } from '../budget/usage.js';

export const OPEN_STATES = ['pending', 'active', 'waiting'] as const;
const ENDED_STATES = ['completed', 'failed'] as const;
export const TASK_STATES = [...OPEN_STATES, ...ENDED_STATES] as const;
export type OpenState = (typeof OPEN_STATES)[number];
export type EndedState = (typeof ENDED_STATES)[number];
export type TaskState = (typeof TASK_STATES)[number];

/** The version that this program writes. A record of a later version is held, never guessed at. */
export const TASK_VERSION = 1;
export const HUMAN = 'human';
/** The program itself. Its name stands on tasks that are done by nobody and only resolved by their rule: dependencies, help. No agent can have it. */
export const ENGINE = 'engine';

/** What a task waits for, so that a pass knows without opening anything whether looking again is worth it. */
export interface Waits {
  /** Ids of tasks; the waiter is looked at again when any of them has ended. */
  tasks?: string[];
  /** ISO time; the waiter is looked at again when it has passed. */
  until?: string;
  /** It could not be read; whoever knows that looks again when it is another. */
  file?: string;
  /** Of this budget the tasks hold so much that nothing more can be asked for: one of them must give some back. */
  budget?: BudgetName;
}

export interface LostTaker {
  /** ISO time: when it was noticed. */
  at: string;
  agent: string;
  /** How much had been said in the conversation. */
  messages: number;
}

export interface Task {
  id: string;
  parent?: string;
  root: string;
  /** How often in a row agents asked by themselves; what patterns ask for is as deep as its parent. */
  depth: number;
  role: Role;
  type?: string;
  description: string;
  /** The peer that shall take it; absent: it is offered. */
  to?: string;
  from?: string;
  requirements: string[];
  /** Ids of tasks that must be completed first. */
  dependencies: string[];
  context: Record<string, unknown> & { original_goal?: string };
  priority: 'A' | 'B' | 'C' | 'D';
  budget?: Budget;
  created_by?: string;
  created_at: string;
  claimed_by?: string;
  claimed_at?: string;
  /** How often it was opened again after it had failed. */
  retries?: number;
  /** How many takers in a row were lost while they held this task, without it having come any further. */
  attempts: number;
  /** Who they were. */
  lost?: LostTaker[];
  /** The conversation this task is done in. */
  session?: string;
  waits?: Waits;
  /** Of a task that was offered: the children that were made to find its taker. */
  bids?: string[];
  result?: string;
  error?: Problem;
  ended_at?: string;
  /** Of a completed root. */
  certificate?: Certificate;
  /** Own spending and that of all descendants, written when the task parks or ends. */
  usage?: Usage;
  /** Own spending alone. */
  own_usage?: Usage;
  version: number;
  /** What the file says beyond this, kept as it is. */
  extra?: Record<string, unknown>;
}

/** A task and where it lies. */
export interface Placed {
  task: Task;
  state: TaskState;
  /** Who holds it, while it is active. */
  owner?: { agent: string; peer: string };
  /** Text or outline of its conversation, if a rule passes it on. */
  conversation?: string;
  /** The result in full, if `task.result` is shortened. */
  fullResult?: string;
}

export function isEnded(state: TaskState): state is EndedState {
  return state === 'completed' || state === 'failed';
}

/** A new task with everything that can be defaulted. */
export function makeTask(given: Partial<Task> & Pick<Task, 'id' | 'description' | 'created_at'>): Task {
  return {
    root: given.id,
    depth: 0,
    role: 'root',
    requirements: [],
    dependencies: [],
    priority: 'C',
    attempts: 0,
    version: TASK_VERSION,
    ...given,
    context: { original_goal: given.description, ...given.context },
  };
}

/** What is asked of whom, as a rule wants it; the engine makes it a task. */
export interface WantedChild {
  id: string;
  role: Role;
  /** Absent: it is offered. */
  to?: string;
  /** Absent: who the parent is for. */
  from?: string;
  type?: string;
  description: string;
  /** Absent: as the parent's. */
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
    context: {
      original_goal: parent.context.original_goal ?? parent.description,
      // what came from outside stays known as that, through every hand it goes
      ...(parent.context['taint'] === undefined ? {} : { taint: parent.context['taint'] }),
      ...wanted.context,
    },
    dependencies: wanted.dependencies ?? [],
    priority: wanted.priority ?? parent.priority,
    budget: wanted.budget,
    session: wanted.session,
    created_by: parent.to,
    created_at: createdAt,
  });
}
