/**
 * A dependency: something a task needs before it can go on, asked for by type. It is a task with role `dependency`, done by nobody: rules
 * find who provides, and that is a child of it with role `provide`. What is asked stands in its context under `dependency`; its result is a
 * Resolution as JSON.
 */
import { roleFacts } from '../task/role.js';
import { isSafeId } from '../task/id.js';
import { priorityOf, textIn, textsIn, urgencyIn, type Urgency } from './urgency.js';
import type { Placed, Task } from '../task/task.js';

export const DEPENDENCY_TYPES = ['data', 'expertise', 'resource', 'approval', 'sequence'] as const;
export type DependencyType = (typeof DEPENDENCY_TYPES)[number];

export { URGENCIES, type Urgency } from './urgency.js';

type DependencyStatus = 'pending' | 'resolving' | 'resolved' | 'partial' | 'failed';

export interface Dependency {
  type: DependencyType;
  /** What is needed, in words. */
  need: string;
  /** data: what kind of data; who has it among its expertise or capabilities is asked. */
  dataType?: string;
  /** expertise: at least one of these, and the more the better. */
  expertise?: string[];
  /** resource: its name; held by one task at a time. */
  resource?: string;
  /** sequence: the task that must end first. */
  after?: string;
  /** approval: the agent that reviews; absent: the human. */
  reviewer?: string;
  urgency: Urgency;
  /** ISO time. */
  deadline?: string;
}

export interface Resolution {
  status: 'resolved' | 'partial' | 'failed';
  provider: string;
  data?: string;
  nextSteps?: string[];
}

export const DEPENDENCY_ROLE = 'dependency';
/** Whoever gives what another needs, or helps another. */
export const PROVIDE_ROLE = 'provide';
/** The coordinator, asked who shall provide. */
export const MATCH_ROLE = 'match';

/** Undefined if this task is no dependency, or does not say of what. */
export function dependencyOf(task: Pick<Task, 'role' | 'context'>): Dependency | undefined {
  const given = task.context['dependency'] as Record<string, unknown> | undefined;
  if (roleFacts(task.role).need !== 'dependency' || given === null || typeof given !== 'object') return undefined;
  const type = DEPENDENCY_TYPES.find((one) => one === given['type']);
  const need = textIn(given['need']);
  if (type === undefined || need === undefined) return undefined;
  // The name of a resource becomes the name of a file, and a person may have written this record.
  const resource = textIn(given['resource']);
  if (type === 'resource' && (resource === undefined || !isSafeId(resource))) return undefined;
  if (type === 'sequence' && textIn(given['after']) === undefined) return undefined;
  const said = TEXTS.flatMap((key) => {
    const text = textIn(given[key]);
    return text === undefined ? [] : [[key, text] as const];
  });
  const expertise = textsIn(given['expertise']);
  return {
    type,
    need,
    urgency: urgencyIn(given['urgency']),
    ...Object.fromEntries(said),
    ...(expertise.length > 0 ? { expertise } : {}),
  };
}

const TEXTS = ['dataType', 'resource', 'after', 'reviewer', 'deadline'] as const;

/** Read off the record and where it lies: nothing of it is stored. Pending until somebody takes it up. */
export function dependencyStatus({ task, state }: Pick<Placed, 'task' | 'state'>): DependencyStatus {
  if (state === 'failed') return 'failed';
  if (state === 'completed') return readResolution(task.result ?? '')?.status ?? 'resolved';
  return task.claimed_at === undefined ? 'pending' : 'resolving';
}

export function printResolution({ status, provider, data, nextSteps }: Resolution): string {
  return JSON.stringify({ status, provider, data: data ?? null, next_steps: nextSteps ?? [] });
}

export function readResolution(text: string): Resolution | undefined {
  const said = parsed(text);
  const status = STATUSES.find((one) => one === said?.['status']);
  const provider = textIn(said?.['provider']);
  if (said === undefined || status === undefined || provider === undefined) return undefined;
  return { status, provider, ...dataIn(said) };
}

/** What a provider says with `provide_dependency`; who it is, the engine knows. */
type Provided = Omit<Resolution, 'provider'>;

export function printProvided({ status, data, nextSteps }: Provided): string {
  return JSON.stringify({ provided: status, data: data ?? null, next_steps: nextSteps ?? [] });
}

/** Undefined for an answer in plain words. */
export function readProvided(text: string): Provided | undefined {
  const said = parsed(text);
  const status = STATUSES.find((one) => one === said?.['provided']);
  return said === undefined || status === undefined ? undefined : { status, ...dataIn(said) };
}

/** The coordinator's choice. */
interface Assignment {
  agent: string;
  reason?: string;
}

export function printAssignment({ agent, reason }: Assignment): string {
  return JSON.stringify({ assign: agent, reason: reason || undefined });
}

export function readAssignment(text: string): Assignment | undefined {
  const said = parsed(text);
  const agent = textIn(said?.['assign']);
  const reason = textIn(said?.['reason']);
  return agent === undefined ? undefined : { agent, reason };
}

export { priorityOf };

const STATUSES = ['resolved', 'partial', 'failed'] as const;

function dataIn(said: Record<string, unknown>): Pick<Resolution, 'data' | 'nextSteps'> {
  const data = said['data'];
  const nextSteps = textsIn(said['next_steps']);
  return {
    ...(data === null || data === undefined ? {} : { data: typeof data === 'string' ? data : JSON.stringify(data) }),
    ...(nextSteps.length > 0 ? { nextSteps } : {}),
  };
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
