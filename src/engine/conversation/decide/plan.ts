/**
 * `plan_approval: true`: the agent shows its plan before it acts. Its first turn has no tools and
 * must be a plan. The human approves it, perhaps edited, before the agent may call tools. The state
 * is read from the kinds of the messages.
 */
import { problem } from '../../../domain/problem.js';
import { openCalls, type ToolCall } from '../../../domain/session/session.js';
import { roleFacts } from '../../../domain/task/role.js';
import { isChoosing } from '../../../rules/patterns/router.js';
import { hasRequiredCall } from './required-call.js';
import { controlMessage, type Action, type Draft, type FailStep, type PlanVerdict, type Talk } from './step.js';

type Planning =
  /** No plan is required, or it is approved. */
  | { do: 'go_on' }
  /** The next turn is for the plan, without tools. */
  | { do: 'take_plan_turn' }
  | Action
  | FailStep;

const MAX_PLANS = 3;

export function planStep(talk: Talk, verdict: PlanVerdict | undefined): Planning {
  if (!needsPlan(talk)) return { do: 'go_on' };
  const messages = roleFacts(talk.task.role).plansOnce ? talk.all : talk.messages;
  if (messages.some((message) => message.kind === 'plan_approved')) return { do: 'go_on' };
  const calls = openCalls(messages);
  if (calls.length > 0) return { do: 'say', messages: calls.map(tooEarly) };
  const asked = messages.findLastIndex((message) => message.kind === 'plan_request');
  if (asked < 0) return request(FIRST);
  const since = messages.slice(asked + 1);
  if (since.some((message) => message.kind === 'last_turn')) return { do: 'go_on' };
  const plan = since.findLast((message) => message.role === 'assistant')?.content;
  if (plan === undefined) return { do: 'take_plan_turn' };
  const number = messages.filter((message) => message.kind === 'plan_request').length;
  if (plan.trim() === '') return again(talk, number, 'Your plan was empty.');
  if (verdict === undefined) return { do: 'submit_plan', plan, number };
  if (!verdict.approved) return again(talk, number, `Your plan was not approved: ${verdict.why}.`);
  return { do: 'say', messages: [controlMessage('plan_approved', goText(verdict.plan))] };
}

/** Routers, coordinators and checks only choose or judge, so they need no plan. */
function needsPlan({ task, agent }: Talk): boolean {
  const chooses = roleFacts(task.role).onlyTools !== undefined || isChoosing(task, agent);
  return agent.planApproval === true && !chooses && !hasRequiredCall(task);
}

function again({ agent }: Talk, number: number, why: string): Planning {
  if (number < MAX_PLANS) return request(`${why} Show a better plan. You cannot call tools until it is approved.`);
  return {
    do: 'fail',
    problem: problem('not_allowed', `${agent.name} showed ${MAX_PLANS} plans and none was approved. ${why}`, {
      hint: 'say in a new task what the plan must respect',
    }),
  };
}

const FIRST =
  'Before you act, show your plan: the steps, who does each of them, and what could go wrong. A person reads it. Answer with the plan only. You cannot call tools until it is approved.';

function request(content: string): Action {
  return { do: 'say', messages: [controlMessage('plan_request', content)] };
}

function goText(edited: string | undefined): string {
  return edited === undefined
    ? 'The human approved your plan. Carry it out now.'
    : `The human edited your plan and approved this version:\n\n${edited}\n\nCarry out this version, not your own.`;
}

function tooEarly({ id, name }: ToolCall): Draft {
  return {
    role: 'tool',
    name,
    toolCallId: id,
    content: 'not_allowed: your plan is not approved yet; nothing was done',
    isError: true,
    code: 'not_allowed',
  };
}
