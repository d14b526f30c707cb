/**
 * What comes of a call that asks somebody else: a child is waited for, its answer is there already, or it cannot be asked for. A child that
 * exists was paid for when it was made.
 */
import type { Budget } from '../../domain/budget/budget.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { withBudget, type Purse } from '../../rules/budget/remaining.js';
import { admitNeed } from './admit-need.js';
import { createChildren } from '../tasks/create-children.js';
import { asReply, type Carried } from './execute-call.js';
import { tooFast } from '../core/pace.js';
import type { EngineContext } from '../core/context.js';

/** What the model can be answered now. */
export type Spoken = Exclude<Carried, { kind: 'ask' }>;

export type Asked =
  | { kind: 'wait'; children: WantedChild[] }
  | { kind: 'answered'; child: Placed }
  | { kind: 'spoken'; reply: Spoken };

/** `wave`: children that this turn still asks for, this one included; each gets the same share. */
export async function askChild(
  context: EngineContext,
  task: Task,
  reply: Extract<Carried, { kind: 'ask' | 'spawn' }>,
  purse: Purse,
  wave: number,
): Promise<Asked> {
  const child = await context.tasks.read(reply.child.id);
  const admitted = child === undefined ? await admitNeed(context, task, reply.child) : reply.child;
  if ('code' in admitted) return { kind: 'spoken', reply: asReply(admitted) };
  const granted = child === undefined ? await grantFor(context, task, admitted, purse, wave) : {};
  if ('code' in granted) {
    // What its open children hold comes back when they end: until then the call waits.
    const short = granted.code === 'over_budget' ? purse.short() : undefined;
    return short === undefined
      ? { kind: 'spoken', reply: asReply(granted) }
      : { kind: 'wait', children: short.holders };
  }
  const wanted = withBudget(admitted, granted);
  if (reply.kind === 'spawn') {
    await createChildren(context, task, [wanted]);
    return { kind: 'spoken', reply };
  }
  if (child === undefined || !isEnded(child.state)) return { kind: 'wait', children: [wanted] };
  return { kind: 'answered', child };
}

/** Its share of what is left; why it cannot be asked for. */
async function grantFor(
  context: EngineContext,
  task: Task,
  child: WantedChild,
  purse: Purse,
  wave: number,
): Promise<Budget | Problem> {
  // A question to the human is never too many.
  if (child.to !== HUMAN && context.pace.room(task) === 0)
    return problem('over_limit', tooFast(context.config.limits.tasksPerMinute));
  return (await context.waits.refuse(task, child)) ?? purse.grant(child, Math.max(1, wave), 1);
}
