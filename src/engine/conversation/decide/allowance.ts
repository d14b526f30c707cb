/**
 * Whether a conversation may take another turn, and how much that turn may cost. When a budget runs
 * out, or a person asks the task to stop, the agent gets one last turn to answer without tools. An
 * agent that repeats itself is warned once.
 */
import { budgetWord, usedUp, type Budget, type BudgetName } from '../../../domain/budget/budget.js';
import { moneyText } from '../../../domain/budget/usage.js';
import { defined } from '../../../domain/defined.js';
import { problem, type Problem } from '../../../domain/problem.js';
import { lastThatMatters, type Message, type MessageKind } from '../../../domain/session/session.js';
import { overBudget } from '../../../rules/budget/remaining.js';
import { reserveCall } from '../../../rules/budget/reserve.js';
import { ERRORS_FAIL, ERRORS_WARN, failedTurns, loopIn, type Loop } from '../../../rules/patterns/loop.js';
import { isChoosing } from '../../../rules/patterns/router.js';
import { failure } from './failure.js';
import { hasRequiredCall } from './required-call.js';
import { controlMessage, type FailStep, type SayStep, type Talk, type TurnBudget, type TurnStep } from './step.js';

export function allowance(talk: Talk, budget: TurnBudget): TurnStep | SayStep | FailStep {
  const { task, agent, messages } = talk;
  const isLast = lastThatMatters(messages)?.kind === 'last_turn';
  if (!isLast) {
    const stuck = stuckStep(talk);
    if (stuck !== undefined) return stuck;
    // A required call is a single answer in any case.
    if (budget.isStopAsked && !hasRequiredCall(task)) return say('last_turn', `You were asked to stop. ${ANSWER_NOW}`);
  }
  const { left, lastMs, promptTokens, maxTokens, price } = budget;
  const reserved = reserveCall(left, promptTokens, { maxTokens, price, isLast });
  const over = (isLast ? undefined : usedUp(left, lastMs)) ?? (reserved.ok ? undefined : reserved.over);
  if (over === undefined)
    return defined({
      do: 'take_turn',
      isLast,
      withTools: !isLast,
      left,
      maxTokens: reserved.ok && reserved.maxTokens ? reserved.maxTokens : undefined,
    });
  // Plain text cannot be the answer if a call is required, nor from a router, whose fallback
  // answers instead.
  if (isLast || hasRequiredCall(task) || isChoosing(task, agent))
    return { do: 'fail', problem: overBudget(over, task, `before there was an answer${remainder(over, left)}`) };
  return say('last_turn', `The budget of ${budgetWord(over)} for this task is used up. ${ANSWER_NOW}`);
}

/** Warns or ends an agent that repeats itself or only makes failing calls. */
function stuckStep(talk: Talk): SayStep | FailStep | undefined {
  const { agent, messages } = talk;
  const loop = lastThatMatters(messages)?.kind === 'loop_warning' ? undefined : loopIn(messages, talk.changes);
  if (loop?.warned) return failure(talk, looping(agent.name, loop));
  if (loop) return say('loop_warning', loopText(loop));
  const { turns, warned } = failedTurns(messages);
  if (turns >= ERRORS_FAIL) return failure(talk, onlyErrors(agent.name, messages));
  return turns >= ERRORS_WARN && !warned ? say('error_warning', errorsText(talk)) : undefined;
}

/** A turn is not started with less than it may need, so some budget may be left. */
function remainder(over: BudgetName, { tokens = 0, microUsd = 0 }: Budget): string {
  if (over === 'tokens' && tokens > 0) return `: ${tokens} tokens are left, too few for a turn`;
  return over === 'microUsd' && microUsd > 0 ? `: ${moneyText(microUsd)} is left, too little for a turn` : '';
}

const ANSWER_NOW = 'Answer now, in plain text, with what you have. You cannot call any more tools.';

function say(kind: MessageKind, content: string): SayStep {
  return { do: 'say', messages: [controlMessage(kind, content)] };
}

function loopText({ what }: Loop): string {
  return `You are repeating yourself: ${what}. Doing it again will not help. Try something else, or answer with what you have. If you continue like this, the task fails.`;
}

function looping(agent: string, { what }: Loop): Problem {
  return problem('over_limit', `${agent} is stuck in a loop: ${what}`, {
    hint: 'read its session; guild task tell continues it with the information that it lacks',
  });
}

function errorsText({ tools }: Talk): string {
  const end = tools.includes('final_report')
    ? 'call final_report with success: false and say why'
    : 'say so in your answer';
  return `${ERRORS_WARN} turns in a row had no successful call. Stop and think: what is the simplest next step that your tools allow? If there is none, ${end}. After ${ERRORS_FAIL} such turns the task fails.`;
}

function onlyErrors(agent: string, messages: readonly Message[]): Problem {
  const last = messages.findLast((message) => message.role === 'tool')?.content.replace(/\s+/g, ' ') ?? '';
  const shown = last.length > 200 ? `${last.slice(0, 199)}…` : last;
  return problem(
    'over_limit',
    `${agent} made no successful call in ${ERRORS_FAIL} turns; the last error was: ${shown}`,
    {
      hint: 'read its session to see what it tried; a model that is good at calling tools may do better',
    },
  );
}
