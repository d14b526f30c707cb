/** The words of running turns, as they arrive. They are painted at most once per frame. */
import { signal } from '@preact/signals';
import type { TurnNow, TurnsChanged } from '../src/web/base/contract.ts';
import { call } from './api.ts';

export const turns = signal<ReadonlyMap<string, TurnNow>>(new Map());

let next: Map<string, TurnNow> | undefined;

export function takeTurns({ turns: changed, ended }: TurnsChanged): undefined {
  const isPlanned = next !== undefined;
  next ??= new Map(turns.value);
  for (const turn of changed) next.set(turn.task, turn);
  for (const task of ended) next.delete(task);
  if (!isPlanned)
    requestAnimationFrame(() => {
      turns.value = next!;
      next = undefined;
    });
}

/** All turns again, for a tab that does not read the stream itself, and after a lost connection. */
export async function readTurns(): Promise<void> {
  try {
    const reply = await call('/api/turns', {});
    if (!reply.ok) return;
    const { turns: all } = (await reply.json()) as TurnsChanged;
    takeTurns({ turns: all, ended: [...turns.value.keys()].filter((task) => !all.some((turn) => turn.task === task)) });
  } catch {
    // The connection is lost; the stream says so.
  }
}
