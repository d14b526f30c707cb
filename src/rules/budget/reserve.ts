/**
 * What one model call may cost, before it is made. The prompt is estimated, the answer is held to what is left, so a call
 * that was let through stays within the budget as far as the estimate of its prompt is true. A turn is only taken if one
 * more, the last, would still fit after it.
 */
import type { Budget, BudgetName } from '../../domain/budget/budget.js';
import type { Price } from '../../domain/budget/price.js';
import type { Message } from '../../domain/session/session.js';

/** Tokens of an answer where neither agent nor model says otherwise and a budget must hold. */
const ANSWER_TOKENS = 8192;
/** A turn with less room than this for its answer is not worth taking. */
const LEAST_TOKENS = 1024;
const LAST_TOKENS = 256;
const LEAST_LAST_TOKENS = 16;

/** `maxTokens`: what the answer must be held to; absent: no budget of tokens or money holds. */
type Reserved = { ok: true; maxTokens?: number } | { ok: false; over: BudgetName };

export function reserveCall(
  left: Budget,
  promptTokens: number,
  { maxTokens, price, isLast }: { maxTokens?: number | undefined; price?: Price | undefined; isLast: boolean },
): Reserved {
  if (left.tokens === undefined && left.microUsd === undefined) return { ok: true };
  const wanted = maxTokens ?? ANSWER_TOKENS;
  const least = Math.min(wanted, isLast ? LEAST_LAST_TOKENS : LEAST_TOKENS);
  const byTokens = left.tokens === undefined ? Infinity : tokensRoom(left.tokens, promptTokens, isLast);
  if (byTokens < least) return { ok: false, over: 'tokens' };
  const byMoney =
    left.microUsd === undefined || price === undefined
      ? Infinity
      : moneyRoom(left.microUsd, promptTokens, price, isLast);
  if (byMoney < least) return { ok: false, over: 'microUsd' };
  return { ok: true, maxTokens: Math.floor(Math.min(wanted, byTokens, byMoney)) };
}

function tokensRoom(left: number, prompt: number, isLast: boolean): number {
  return isLast ? left - prompt : (left - 2 * prompt - LAST_TOKENS) / 2;
}

/** Prices are dollars for a million tokens, which is micro-dollars for one. */
function moneyRoom(left: number, prompt: number, { input, output }: Price, isLast: boolean): number {
  if (input === 0 && output === 0) return Infinity;
  const whole = left - 1; // a cost is rounded to whole micro-dollars
  if (isLast) return output === 0 ? (whole >= prompt * input ? Infinity : 0) : (whole - prompt * input) / output;
  return (whole - 2 * prompt * input - LAST_TOKENS * output) / (input + output);
}

/**
 * About how many tokens a prompt has. What the last call really took is known from its answer; only what came after it
 * is guessed, so the cost of guessing does not grow with the conversation.
 */
export function promptTokens(head: () => string, messages: readonly Message[]): number {
  let guessed = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === 'assistant' && (message.usage?.inputTokens ?? 0) > 0)
      return message.usage!.inputTokens + message.usage!.outputTokens + guessed;
    guessed += messageTokens(message);
  }
  return guessed + textTokens(head());
}

export function messageTokens({ content, toolCalls }: Message): number {
  return 4 + textTokens(content) + (toolCalls === undefined ? 0 : textTokens(JSON.stringify(toolCalls)));
}

/** A quarter of the characters, and one for each that is not plain ASCII. */
export function textTokens(text: string): number {
  const wide = text.match(/[^\x00-\x7f]/g)?.length ?? 0; // oxlint-disable-line no-control-regex
  return Math.ceil((text.length - wide) / 4) + wide;
}
