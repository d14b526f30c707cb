/** Creates the children that a task wants. This is the only place where children are created. */
import type { ApprovalRequest } from '../../domain/task/approval.js';
import { lineageFields } from '../../domain/task/lineage.js';
import { roleFacts } from '../../domain/task/role.js';
import { makeChild, type Task, type WantedChild } from '../../domain/task/task.js';
import { record, type EngineContext } from '../core/context.js';
import { sealed } from '../core/sealed.js';

/** Returns those that did not exist yet. */
export async function createChildren(
  context: EngineContext,
  parent: Task,
  wanted: readonly WantedChild[],
): Promise<Task[]> {
  const at = context.clock.now().toISOString();
  const created = await Promise.all(
    wanted.map(async (want) => {
      const child = makeChild(parent, withSeal(context, withAsker(parent, want)), at);
      const isDerived = roleFacts(child.role).isStage && isOursAlone(context, child.to);
      if (!(await context.tasks.create(child, { durable: !isDerived }))) return [];
      context.pace.made(parent.root);
      record(context, 'task.created', { task: child.id, agent: child.to, cause: parent.id, ...lineageFields(child) });
      return [child];
    }),
  );
  return created.flat();
}

/** True if only this process can run the agent, and no other needs to see its lock or its load. */
function isOursAlone({ agents, hosts }: EngineContext, agent = ''): boolean {
  const known = agents.all().get(agent);
  if (known?.session === 'shared' || (known?.maxConcurrentTasks ?? Infinity) !== Infinity) return false;
  return hosts === undefined || hosts.has(agent);
}

/** A request to the human gets a proof that this machine made it. */
function withSeal(context: EngineContext, want: WantedChild): WantedChild {
  const request = want.context?.['request'] as ApprovalRequest | undefined;
  if (request === undefined) return want;
  return { ...want, context: { ...want.context, request: sealed(context, want.id, request) } };
}

/** Requested work names the conversation that asked for it. */
function withAsker({ session }: Task, want: WantedChild): WantedChild {
  if (session === undefined || !roleFacts(want.role).isWork) return want;
  return { ...want, context: { ...want.context, asker_session: session } };
}
