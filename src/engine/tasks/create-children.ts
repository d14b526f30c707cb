/** Makes the children that a task wants: the one place where tasks are made under others. Whoever wants one that is there already wants nothing new. */
import { standing } from '../../domain/task/lineage.js';
import { roleFacts } from '../../domain/task/role.js';
import { makeChild, type Task, type WantedChild } from '../../domain/task/task.js';
import { record, type EngineContext } from '../core/context.js';

/** Those that were not there yet. */
export async function createChildren(
  context: EngineContext,
  parent: Task,
  wanted: readonly WantedChild[],
): Promise<Task[]> {
  const at = context.clock.now().toISOString();
  const made = await Promise.all(
    wanted.map(async (one) => {
      const child = makeChild(parent, one, at);
      const isDerived = roleFacts(child.role).isStage && isOursAlone(context, child.to);
      if (!(await context.tasks.create(child, { durable: !isDerived }))) return [];
      context.pace.made(parent.root);
      record(context, 'task.created', { task: child.id, agent: child.to, cause: parent.id, ...standing(child) });
      return [child];
    }),
  );
  return made.flat();
}

/** Nobody else takes it up, or must see who has the turn in a shared conversation, or how much its agent has in hand. */
function isOursAlone({ agents, hosts }: EngineContext, agent = ''): boolean {
  const known = agents.all().get(agent);
  if (known?.session === 'shared' || (known?.maxConcurrentTasks ?? Infinity) !== Infinity) return false;
  return hosts === undefined || hosts.has(agent);
}
