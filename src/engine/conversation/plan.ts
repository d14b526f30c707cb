/**
 * `plan_approval: true`: the agent shows its plan before it acts. Its first turn has no tools and must be a plan. The
 * plan goes to the human as an approval; only an approved plan, as the human left it, opens the way to tools. The state of
 * this is read from the kinds of the messages.
 */
import { isChoosing } from '../../rules/patterns/router.js';
import { roleFacts } from '../../domain/task/role.js';
import { problem, type Problem } from '../../domain/problem.js';
import { childId } from '../../domain/task/id.js';
import { openCalls, type Message } from '../../domain/session/session.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import type { ApprovalRequest } from '../../domain/task/approval.js';
import { approvalFor, verdictOn } from '../approvals/approvals.js';
import { controlMessage } from './control-message.js';
import type { Conversation } from './conversation.js';
import { owesCall } from './required-call.js';
import type { EngineContext } from '../core/context.js';

export type Planning =
  /** There is no plan to wait for, or it is approved. */
  | { kind: 'none' }
  /** The next turn is for the plan: nothing may be called in it. */
  | { kind: 'plan' }
  /** Something was said: look again. */
  | { kind: 'again' }
  | { kind: 'wait'; child: WantedChild }
  | { kind: 'problem'; problem: Problem };

const MAX_PLANS = 3;

export async function planStep(context: EngineContext, task: Task, talk: Conversation): Promise<Planning> {
  if (!plans(task, talk)) return { kind: 'none' };
  const messages = roleFacts(task.role).plansOnce ? talk.messages() : talk.mine();
  if (messages.some((message) => message.kind === 'plan_approved')) return { kind: 'none' };
  const calls = openCalls(messages);
  if (calls.length > 0) return say(talk, ...calls.map((call) => tooEarly(context, call.id, call.name)));
  const asked = messages.findLastIndex((message) => message.kind === 'plan_request');
  if (asked < 0) return say(talk, request(context, FIRST));
  const since = messages.slice(asked + 1);
  if (since.some((message) => message.kind === 'last_turn')) return { kind: 'none' };
  const plan = since.findLast((message) => message.role === 'assistant')?.content;
  if (plan === undefined) return { kind: 'plan' };
  const count = messages.filter((message) => message.kind === 'plan_request').length;
  if (plan.trim() === '') return again(context, talk, count, 'Your plan was empty.');
  return heed(context, task, talk, plan, count);
}

/** A router and a coordinator do nothing but choose, and a check nothing but judge. */
function plans(task: Task, { agent }: Conversation): boolean {
  const chooses = roleFacts(task.role).onlyTools !== undefined || isChoosing(task, agent);
  return agent.planApproval === true && !chooses && !owesCall(task);
}

async function heed(
  context: EngineContext,
  task: Task,
  talk: Conversation,
  plan: string,
  count: number,
): Promise<Planning> {
  const wanted = approval(context, task, talk, plan, count);
  const placed = await context.tasks.read(wanted.id);
  // What is asked about must not be lost in a power cut while the question stays.
  if (placed === undefined && (await talk.append([], true)) === 'edited') return { kind: 'again' };
  const said = verdictOn(placed, wanted);
  if (said.kind === 'open') return { kind: 'wait', child: wanted };
  if (said.kind === 'no') return again(context, talk, count, `Your plan was not approved: ${said.message}.`);
  const edited = said.edited?.['plan'];
  const go =
    typeof edited === 'string'
      ? `The human changed your plan and approved it as it stands here:\n\n${edited}\n\nCarry out this plan, not yours.`
      : 'The human approved your plan. Carry it out now.';
  return say(talk, controlMessage(context.clock, 'plan_approved', go));
}

function approval(
  context: EngineContext,
  task: Task,
  { agent }: Conversation,
  plan: string,
  count: number,
): WantedChild {
  const call = { id: `plan-${count}`, name: 'follow_plan', arguments: { plan } };
  const gate = { verdict: 'ask', reasons: [`${agent.name} shows its plan before it acts`], risk: 'LOW' } as const;
  const wanted = approvalFor(context, task, agent, call, { ...gate, reasons: [...gate.reasons] });
  const held: ApprovalRequest = {
    ...(wanted.context!['request'] as ApprovalRequest),
    confinement: 'nothing is done by this: each step of the plan is still judged by itself',
  };
  return {
    ...wanted,
    id: childId(task.id, call.id),
    description: `Approve the plan of ${agent.name}`,
    context: { request: held },
  };
}

const FIRST =
  'Before you act, show your plan: what you will do, step by step, with whom, and what could go wrong. A human reads it. Answer with the plan alone; no tool can be called before it is approved.';

async function again(context: EngineContext, talk: Conversation, count: number, why: string): Promise<Planning> {
  if (count < MAX_PLANS)
    return say(talk, request(context, `${why} Show a better plan; no tool can be called before it is approved.`));
  return {
    kind: 'problem',
    problem: problem('not_allowed', `${talk.agent.name} showed ${MAX_PLANS} plans and none was approved. ${why}`, {
      hint: 'say in a new task what the plan must respect',
    }),
  };
}

function request(context: EngineContext, content: string): Message {
  return controlMessage(context.clock, 'plan_request', content);
}

function tooEarly(context: EngineContext, toolCallId: string, name: string): Message {
  return {
    role: 'tool',
    name,
    toolCallId,
    content: 'not_allowed: your plan is not approved yet; nothing was done',
    isError: true,
    code: 'not_allowed',
    timestamp: context.clock.now().toISOString(),
  };
}

/** Written or not, because a person was faster: either way the conversation is looked at again. */
async function say(talk: Conversation, ...messages: Message[]): Promise<Planning> {
  await talk.append(messages, false);
  return { kind: 'again' };
}
