/** The children that a dependency or a call for help can have; their ids follow from its own. */
import { childId } from '../../domain/task/id.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { PROVIDERS, provideId } from '../../rules/coordination/providers.js';
import type { EngineContext } from './context.js';

/** Undefined: there is none of this name. */
export async function needParts(context: EngineContext, task: Task): Promise<Map<string, Placed | undefined>> {
  const numbered = Array.from({ length: PROVIDERS }, (_, n) => provideId(task, n + 1));
  const ids = [...numbered, ...['match', 'approval', 'escalated'].map((part) => childId(task.id, part))];
  const found = await Promise.all(ids.map(async (id) => [id, await context.tasks.read(id)] as const));
  return new Map(found);
}
