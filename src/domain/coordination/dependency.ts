/**
 * A dependency: something a task needs before it can continue. It is a task with role `dependency`
 * that no agent works on: rules find a provider, which is a child with role `provide`. Its context
 * contains the request under `dependency`; its result is a Resolution as JSON.
 */
import { attempt } from '../attempt.js';
import { defined } from '../defined.js';
import { roleFacts } from '../task/role.js';
import { isSafeId } from '../task/id.js';
import { textIn, textsIn, urgencyIn, type Urgency } from './urgency.js';
import type { Placed, Task } from '../task/task.js';

export const DEPENDENCY_TYPES = ['data', 'expertise', 'resource', 'approval', 'sequence'] as const;
export type DependencyType = (typeof DEPENDENCY_TYPES)[number];

export type { Urgency } from './urgency.js';

type DependencyStatus = 'pending' | 'resolving' | 'resolved' | 'partial' | 'failed';

export interface Dependency {
  type: DependencyType;
  need: string;
  /** data: the kind of data; agents with this expertise or capability are asked. */
  dataType?: string;
  /** expertise: at least one of these; more matches are better. */
  expertise?: string[];
  /** resource: its name; one task holds it at a time. */
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
/** The role of a task that provides a need, or that helps. */
export const PROVIDE_ROLE = 'provide';
/** The role of the task in which the coordinator chooses a provider. */
export const MATCH_ROLE = 'match';

export function dependencyOf(task: Pick<Task, 'role' | 'context'>): Dependency | undefined {
  const fields = task.context['dependency'] as Record<string, unknown> | undefined;
  if (roleFacts(task.role).need !== 'dependency' || fields === null || typeof fields !== 'object') return undefined;
  const type = DEPENDENCY_TYPES.find((name) => name === fields['type']);
  const need = textIn(fields['need']);
  if (type === undefined || need === undefined) return undefined;
  // The name of a resource becomes a file name, and records are user-editable.
  const resource = textIn(fields['resource']);
  if (type === 'resource' && (resource === undefined || !isSafeId(resource))) return undefined;
  if (type === 'sequence' && textIn(fields['after']) === undefined) return undefined;
  const texts = TEXT_FIELDS.flatMap((key) => {
    const text = textIn(fields[key]);
    return text === undefined ? [] : [[key, text] as const];
  });
  const expertise = textsIn(fields['expertise']);
  return {
    type,
    need,
    urgency: urgencyIn(fields['urgency']),
    ...Object.fromEntries(texts),
    ...(expertise.length > 0 ? { expertise } : {}),
  };
}

const TEXT_FIELDS = ['dataType', 'resource', 'after', 'reviewer', 'deadline'] as const;

/** Derived from the record and its state. */
export function dependencyStatus({ task, state }: Pick<Placed, 'task' | 'state'>): DependencyStatus {
  if (state === 'failed') return 'failed';
  if (state === 'completed') return readResolution(task.result ?? '')?.status ?? 'resolved';
  return task.claimed_at === undefined ? 'pending' : 'resolving';
}

export function printResolution({ status, provider, data, nextSteps }: Resolution): string {
  return JSON.stringify({ status, provider, data: data ?? null, next_steps: nextSteps ?? [] });
}

export function readResolution(text: string): Resolution | undefined {
  const fields = parsed(text);
  const status = STATUSES.find((name) => name === fields?.['status']);
  const provider = textIn(fields?.['provider']);
  if (fields === undefined || status === undefined || provider === undefined) return undefined;
  return { status, provider, ...dataIn(fields) };
}

/** The arguments of `provide_dependency`; the engine knows the provider. */
type Provided = Omit<Resolution, 'provider'>;

export function printProvided({ status, data, nextSteps }: Provided): string {
  return JSON.stringify({ provided: status, data: data ?? null, next_steps: nextSteps ?? [] });
}

/** Undefined for an answer in plain text. */
export function readProvided(text: string): Provided | undefined {
  const fields = parsed(text);
  const status = STATUSES.find((name) => name === fields?.['provided']);
  return fields === undefined || status === undefined ? undefined : { status, ...dataIn(fields) };
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
  const fields = parsed(text);
  const agent = textIn(fields?.['assign']);
  const reason = textIn(fields?.['reason']);
  return agent === undefined ? undefined : { agent, reason };
}

const STATUSES = ['resolved', 'partial', 'failed'] as const;

function dataIn(fields: Record<string, unknown>): Pick<Resolution, 'data' | 'nextSteps'> {
  const data = fields['data'];
  const nextSteps = textsIn(fields['next_steps']);
  return defined({
    data: data === null || data === undefined || typeof data === 'string' ? (data ?? undefined) : JSON.stringify(data),
    nextSteps: nextSteps.length > 0 ? nextSteps : undefined,
  });
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{')) return undefined;
  return attempt(() => JSON.parse(text) as Record<string, unknown>);
}
