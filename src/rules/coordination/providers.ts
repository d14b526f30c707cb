/**
 * Those who were asked to provide, one after the other: the first, and when that one fails, the next best, once. Each is a child with a number
 * in its id and not a name, so that whoever is asked first is asked alone, however many look at the same time.
 */
import { readProvided, type Resolution } from '../../domain/coordination/dependency.js';
import { childId } from '../../domain/task/id.js';
import { isEnded, type Placed, type Task } from '../../domain/task/task.js';
import { errorText, type Children } from '../patterns/gather.js';

type Provision =
  | { kind: 'given'; resolution: Resolution }
  /** One is at it. */
  | { kind: 'open'; child: string }
  /** Nobody is at it; these tried, and why the last of them could not. */
  | { kind: 'none'; tried: string[]; next: string; why?: string }
  /** Two tried in vain. */
  | { kind: 'spent'; tried: string[]; why: string };

export const PROVIDERS = 2;

export function provideId(task: Pick<Task, 'id'>, number: number): string {
  return childId(task.id, `provide-${number}`);
}

export function provision(task: Pick<Task, 'id'>, children: Children, most = PROVIDERS): Provision {
  const tried: string[] = [];
  let why: string | undefined;
  for (let number = 1; number <= most; number++) {
    const next = provideId(task, number);
    const placed = children.get(next);
    if (placed === undefined) return { kind: 'none', tried, next, why };
    if (!isEnded(placed.state)) return { kind: 'open', child: next };
    const said = given(placed);
    if (said.status !== 'failed') return { kind: 'given', resolution: said };
    tried.push(said.provider);
    why = `${said.provider} could not: ${said.data ?? 'it did not say why'}`;
  }
  return { kind: 'spent', tried, why: why ?? '' };
}

/** What a child that provided came to. Words without a status are what was asked for. */
export function given({ task, state }: Placed): Resolution {
  const provider = task.to ?? 'nobody';
  if (state === 'failed') return { status: 'failed', provider, data: errorText(task.error) };
  const said = readProvided(task.result ?? '');
  if (said !== undefined) return { ...said, provider };
  return { status: 'resolved', provider, data: task.result ?? '' };
}
