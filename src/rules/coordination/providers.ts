/**
 * The agents asked to provide a dependency, one after the other: the best, and if it fails, the
 * next best. The children are numbered and not named after the agent, so that processes that choose
 * different agents at the same time still ask only one.
 */
import { readProvided, type Resolution } from '../../domain/coordination/dependency.js';
import { childId } from '../../domain/task/id.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { errorText, type Children } from '../patterns/gather.js';

type ProviderProgress =
  | { kind: 'provided'; resolution: Resolution }
  /** A provider is working. */
  | { kind: 'open'; child: string }
  /** The next provider can be asked. `tried`: the agents that failed; `why`: the last failure. */
  | { kind: 'next'; tried: string[]; next: string; why?: string }
  /** All attempts are used up. */
  | { kind: 'failed'; tried: string[]; why: string };

export const PROVIDERS = 2;

export function provideId(task: Pick<Task, 'id'>, number: number): string {
  return childId(task.id, `provide-${number}`);
}

export function providerProgress(
  task: Pick<Task, 'id'>,
  children: Children,
  maxProviders = PROVIDERS,
): ProviderProgress {
  const tried: string[] = [];
  let why: string | undefined;
  for (let number = 1; number <= maxProviders; number++) {
    const next = provideId(task, number);
    const placed = children.get(next);
    if (placed === undefined) return { kind: 'next', tried, next, why };
    if (!isEnded(placed.state)) return { kind: 'open', child: next };
    const resolution = resolutionOf(placed);
    if (resolution.status !== 'failed') return { kind: 'provided', resolution };
    tried.push(resolution.provider);
    why = `${resolution.provider} could not provide it: ${resolution.data ?? 'no reason given'}`;
  }
  return { kind: 'failed', tried, why: why ?? '' };
}

/** The outcome of an ended provider. A result without a status resolves the dependency. */
export function resolutionOf({ task, state }: Placed): Resolution {
  const provider = task.to ?? 'nobody';
  if (state === 'failed') return { status: 'failed', provider, data: errorText(task.error) };
  const provided = readProvided(task.result ?? '');
  if (provided !== undefined) return { ...provided, provider };
  return { status: 'resolved', provider, data: task.result ?? '' };
}
