/** Reads the children that a dependency or help request can have. Their ids derive from its own. */
import { childId } from '../../domain/task/id.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { PROVIDERS, provideId } from '../../rules/coordination/providers.js';
import type { EngineContext } from './context.js';

export async function needChildren(context: EngineContext, task: Task): Promise<Map<string, Placed | undefined>> {
  const numbered = Array.from({ length: PROVIDERS }, (_, n) => provideId(task, n + 1));
  const ids = [...numbered, ...['match', 'approval', 'escalated'].map((name) => childId(task.id, name))];
  const entries = await Promise.all(ids.map(async (id) => [id, await context.tasks.read(id)] as const));
  return new Map(entries);
}
