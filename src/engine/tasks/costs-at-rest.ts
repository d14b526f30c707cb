/**
 * Costs of a task that is about to end without running: read from its conversation and the records
 * of its children, or from the stages of its pattern.
 */
import { roleFacts } from '../../domain/task/role.js';
import { messagesOf, sessionUsage } from '../../domain/session/session.js';
import type { Placed, Task } from '../../domain/task/task.js';
import { NO_USAGE } from '../../domain/budget/usage.js';
import { decide, isLeaf } from '../../rules/patterns/decide.js';
import { askedIn, costsOf, subtasks, type Costs } from './costs.js';
import { askRule } from '../core/ask-rule.js';
import { needChildren } from '../core/need-children.js';
import type { EngineContext } from '../core/context.js';

/** Undefined: nothing is known beyond its record, which stays as it is. */
export async function costsAtRest(context: EngineContext, task: Task): Promise<Costs | undefined> {
  const inner = await innerChildren(context, task);
  if (inner !== undefined) return costsOf(NO_USAGE, [...inner, ...(await subtasks(context, task))]);
  if (task.session === undefined) return undefined;
  const opened = await context.sessions.open(task.session);
  if (opened.kind !== 'open') return undefined;
  const mine = messagesOf(opened.session, task.id);
  if (mine === undefined) return undefined;
  const children = await Promise.all(askedIn(context, task, mine, 0).map((id) => context.tasks.read(id)));
  return costsOf(sessionUsage(mine), [...children, ...(await subtasks(context, task))]);
}

/** The children of a task that only its rule resolves; undefined for a leaf. */
async function innerChildren(context: EngineContext, task: Task): Promise<(Placed | undefined)[] | undefined> {
  if (roleFacts(task.role).need !== undefined) return [...(await needChildren(context, task)).values()];
  const agent = task.to === undefined ? undefined : context.agents.all().get(task.to);
  if (agent === undefined || isLeaf(task, agent)) return undefined;
  const { children } = await askRule(
    (known) => decide(task, agent, known, context.config.limits),
    (step) => (step.do === 'ask' ? step.children : []),
    (id) => context.tasks.read(id),
  );
  return [...children.values()];
}
