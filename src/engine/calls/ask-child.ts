/**
 * Handles a call that asks another peer: waits for the child, returns its answer, or refuses the
 * call. A child that already exists has its budget.
 */
import type { Budget } from '../../domain/budget/budget.js';
import { problem, type Problem } from '../../domain/problem.js';
import { HUMAN, isEnded, type Placed, type Task, type WantedChild } from '../../domain/task/task.js';
import { roleFacts } from '../../domain/task/role.js';
import { withBudget, type RemainingBudget } from '../../rules/budget/remaining.js';
import { consult } from '../approvals/request.js';
import { admitNeed } from './admit-need.js';
import { createChildren } from '../tasks/create-children.js';
import { asReply, type CallReply } from './execute-call.js';
import { tooFast } from '../core/pace.js';
import type { EngineContext } from '../core/context.js';

/** A reply that the model can get now. */
export type Spoken = Exclude<CallReply, { kind: 'ask' | 'approval' | 'deferred' }>;

export type Asked =
  | { kind: 'wait'; children: WantedChild[] }
  | { kind: 'answered'; child: Placed }
  | { kind: 'spoken'; reply: Spoken };

/**
 * `wave`: how many children this turn still asks for, including this one; all get the same share.
 */
export async function askChild(
  context: EngineContext,
  task: Task,
  reply: Extract<CallReply, { kind: 'ask' | 'spawn' | 'approval' }>,
  remaining: RemainingBudget,
  wave: number,
): Promise<Asked> {
  const { wanted: first, child, refused } = await lookUp(context, reply);
  if (refused !== undefined) return { kind: 'spoken', reply: asReply(problem('not_allowed', refused)) };
  const admitted = child === undefined ? await admitNeed(context, task, first) : first;
  if ('code' in admitted) return { kind: 'spoken', reply: asReply(admitted) };
  const granted = child === undefined ? await grantFor(context, task, admitted, remaining, wave) : {};
  if ('code' in granted) {
    // Open children return their unused shares when they end; the call waits until then.
    const short = granted.code === 'over_budget' ? remaining.short() : undefined;
    return short === undefined
      ? { kind: 'spoken', reply: asReply(granted) }
      : { kind: 'wait', children: short.holders };
  }
  const wanted = withBudget(admitted, granted);
  if (reply.kind === 'spawn') {
    await createChildren(context, task, [wanted]);
    return { kind: 'spoken', reply };
  }
  // An approval is not an answer: if it has ended meanwhile, the next turn runs or refuses it.
  if (reply.kind === 'approval' || child === undefined || !isEnded(child.state))
    return { kind: 'wait', children: [wanted] };
  return { kind: 'answered', child };
}

/** The child as it is on record. A question that came with the folder is asked again instead. */
async function lookUp(
  context: EngineContext,
  reply: Extract<CallReply, { kind: 'ask' | 'spawn' | 'approval' }>,
): Promise<{ wanted: WantedChild; child: Placed | undefined; refused?: string }> {
  if (reply.kind === 'approval') return { wanted: reply.child, child: reply.placed };
  if (!roleFacts(reply.child.role).isQuestion)
    return { wanted: reply.child, child: await context.tasks.read(reply.child.id) };
  const { child, placed, answer } = await consult(context, reply.child);
  const isRefused = placed === undefined && answer.kind === 'no';
  return { wanted: child, child: placed, ...(isRefused ? { refused: answer.message } : {}) };
}

/** The child's share of the remaining budget, or why it cannot be created. */
async function grantFor(
  context: EngineContext,
  task: Task,
  child: WantedChild,
  remaining: RemainingBudget,
  wave: number,
): Promise<Budget | Problem> {
  // Questions to the human are not limited.
  if (child.to !== HUMAN && context.pace.room(task) === 0)
    return problem('over_limit', tooFast(context.config.limits.tasksPerMinute));
  return (await context.waits.refuse(task, child)) ?? remaining.grant(child, Math.max(1, wave), 1);
}
