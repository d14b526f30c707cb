/** The words of running turns, as they arrive. They are painted at most once per frame. */
import { signal } from '@preact/signals';
import type { TurnNow, TurnsChanged } from '../src/web/base/contract.ts';
import { readOnce } from './api.ts';

export const turns = signal<ReadonlyMap<string, TurnNow>>(new Map());

let next: Map<string, TurnNow> | undefined;

export function takeTurns({ turns: changed, ended }: TurnsChanged): undefined {
  const isPlanned = next !== undefined;
  next ??= new Map(turns.value);
  if (ended === 'others') next.clear();
  else for (const task of ended) next.delete(task);
  for (const turn of changed) next.set(turn.task, turn);
  if (!isPlanned)
    requestAnimationFrame(() => {
      turns.value = next!;
      next = undefined;
    });
}

/** All turns, for a tab that does not read the stream itself. */
export async function readTurns(): Promise<void> {
  const all = await readOnce<TurnsChanged>('/api/turns');
  if (all !== undefined) takeTurns(all);
}
