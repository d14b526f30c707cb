/**
 * Whether a conversation may take another turn, and how much that turn may cost. When something runs out, or a person asks
 * it to stop, it is told so and has one last turn for an answer in words; when it goes in circles, it is told so once.
 */
import { isChoosing } from '../../rules/patterns/router.js';
import { budgetWord, usedUp, type Budget, type BudgetName } from '../../domain/budget/budget.js';
import type { Price } from '../../domain/budget/price.js';
import type { ModelSettings } from '../../domain/agent/agent.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Message, MessageKind } from '../../domain/session/session.js';
import type { Task } from '../../domain/task/task.js';
import { moneyText } from '../../domain/budget/usage.js';
import { loopIn, type Loop } from '../../rules/patterns/loop.js';
import { overBudget, type Purse } from '../../rules/budget/remaining.js';
import { promptTokens, reserveCall } from '../../rules/budget/reserve.js';
import { controlMessage } from './control-message.js';
import type { Conversation } from './conversation.js';
import { stopAsked } from '../core/stop-asked.js';
import { owesCall } from './required-call.js';
import type { EngineContext } from '../core/context.js';
import { grantedTools, systemPrompt } from './prompt.js';

export type Allowance =
  | { kind: 'turn'; isLast: boolean; left: Budget; maxTokens?: number }
  | { kind: 'tell'; message: Message }
  | { kind: 'problem'; problem: Problem };

export async function allowance(
  context: EngineContext,
  task: Task,
  talk: Conversation,
  purse: Purse,
  resolved: { models: string[]; settings: ModelSettings },
  shown: readonly Message[],
): Promise<Allowance> {
  const messages = talk.mine();
  const last = messages.at(-1);
  const isLast = last?.kind === 'last_turn';
  if (!isLast) {
    const loop = last?.kind === 'loop_warning' ? undefined : loopIn(messages, (name) => changes(context, name));
    if (loop?.warned) return { kind: 'problem', problem: looping(talk.agent.name, loop) };
    if (loop) return tell(context, 'loop_warning', loopText(loop));
    // Whoever owes one call gives its last answer anyway.
    if (!owesCall(task) && (await stopAsked(context, task)))
      return tell(context, 'last_turn', `You were asked to stop. ${ANSWER_NOW}`);
  }
  const left = purse.left();
  const head = (): string =>
    systemPrompt(context, talk.agent, task) + JSON.stringify(grantedTools(context, talk.agent, task));
  const reserved = reserveCall(left, promptTokens(head, shown), {
    maxTokens: resolved.settings.maxTokens,
    price: dearest(context, resolved.models),
    isLast,
  });
  const over = (isLast ? undefined : usedUp(left, purse.lastMs)) ?? (reserved.ok ? undefined : reserved.over);
  if (over !== undefined) {
    // A router that has not chosen by now has nothing to answer: its fallback does. Words are no verdict either.
    const isOver = isLast || owesCall(task) || isChoosing(task, talk.agent);
    if (isOver)
      return { kind: 'problem', problem: overBudget(over, task, `before there was an answer${still(over, left)}`) };
    return tell(context, 'last_turn', `The budget of ${budgetWord(over)} for this task is used up. ${ANSWER_NOW}`);
  }
  return {
    kind: 'turn',
    isLast,
    left,
    ...(reserved.ok && reserved.maxTokens ? { maxTokens: reserved.maxTokens } : {}),
  };
}

/** A turn is not begun with less than it may need, so something may be left. */
function still(over: BudgetName, { tokens = 0, microUsd = 0 }: Budget): string {
  if (over === 'tokens' && tokens > 0) return `: ${tokens} tokens are left, too few for a turn`;
  return over === 'microUsd' && microUsd > 0 ? `: ${moneyText(microUsd)} is left, too little for a turn` : '';
}

const ANSWER_NOW = 'Answer now, in words, with what you have; no tool can be called any more.';

function tell(context: EngineContext, kind: MessageKind, content: string): Allowance {
  return { kind: 'tell', message: controlMessage(context.clock, kind, content) };
}

function changes(context: EngineContext, tool: string): boolean {
  return context.tools.get(tool)?.kind !== 'pure';
}

function loopText({ what }: Loop): string {
  return `You repeat yourself: ${what}. Doing it again will not help. Try another way, or answer with what you have; if you go on like this, the task ends as failed.`;
}

function looping(agent: string, { what }: Loop): Problem {
  return problem('over_limit', `${agent} goes round in a loop: ${what}`, {
    hint: 'look into its session; give it what it lacks with guild task tell, then retry the task',
  });
}

/** Of several models that may be asked, the most expensive counts. */
function dearest(context: EngineContext, models: readonly string[]): Price | undefined {
  const prices = models.flatMap((model) => context.price(model) ?? []);
  return prices.length === 0
    ? undefined
    : {
        input: Math.max(...prices.map((price) => price.input)),
        output: Math.max(...prices.map((price) => price.output)),
      };
}
