/**
 * Limits the cost of a model call before it is made. The prompt is estimated and the answer is
 * limited to the rest of the budget, so a call stays within it if the estimate is right. A turn
 * is only allowed if one more, the last answer, still fits after it.
 */
import type { Budget, BudgetName } from '../../domain/budget/budget.js';
import type { Price } from '../../domain/budget/price.js';
import type { FileRef } from '../../domain/file-ref.js';
import type { Message } from '../../domain/session/session.js';

/** The default limit of an answer, if there is a budget and neither agent nor model sets one. */
const ANSWER_TOKENS = 8192;
/** A turn that leaves fewer tokens than this for its answer is not worth taking. */
const MIN_ANSWER_TOKENS = 1024;
const LAST_ANSWER_TOKENS = 256;
const MIN_LAST_ANSWER_TOKENS = 16;

/** `maxTokens`: the limit of the answer; absent if there is no budget of tokens or money. */
type Reserved = { ok: true; maxTokens?: number } | { ok: false; over: BudgetName };

export function reserveCall(
  left: Budget,
  promptTokens: number,
  { maxTokens, price, isLast }: { maxTokens?: number | undefined; price?: Price | undefined; isLast: boolean },
): Reserved {
  if (left.tokens === undefined && left.microUsd === undefined) return { ok: true };
  const wanted = maxTokens ?? ANSWER_TOKENS;
  const minimum = Math.min(wanted, isLast ? MIN_LAST_ANSWER_TOKENS : MIN_ANSWER_TOKENS);
  const byTokens = left.tokens === undefined ? Infinity : answerByTokens(left.tokens, promptTokens, isLast);
  if (byTokens < minimum) return { ok: false, over: 'tokens' };
  const byMoney =
    left.microUsd === undefined || price === undefined
      ? Infinity
      : answerByMoney(left.microUsd, promptTokens, price, isLast);
  if (byMoney < minimum) return { ok: false, over: 'microUsd' };
  return { ok: true, maxTokens: Math.floor(Math.min(wanted, byTokens, byMoney)) };
}

function answerByTokens(left: number, prompt: number, isLast: boolean): number {
  return isLast ? left - prompt : (left - 2 * prompt - LAST_ANSWER_TOKENS) / 2;
}

/** Dollars per million tokens are micro-dollars per token. */
function answerByMoney(left: number, prompt: number, { input, output }: Price, isLast: boolean): number {
  if (input === 0 && output === 0) return Infinity;
  const usable = left - 1; // a cost is rounded to whole micro-dollars
  if (isLast) return output === 0 ? (usable >= prompt * input ? Infinity : 0) : (usable - prompt * input) / output;
  return (usable - 2 * prompt * input - LAST_ANSWER_TOKENS * output) / (input + output);
}

/**
 * Estimates the tokens of a prompt. The last answer reports the real number up to it, so only later
 * messages are estimated, and the work does not grow with the conversation.
 */
export function promptTokens(headTokens: () => number, messages: readonly Message[]): number {
  let estimate = 0;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === 'assistant' && (message.usage?.inputTokens ?? 0) > 0)
      return message.usage!.inputTokens + message.usage!.outputTokens + estimate;
    estimate += messageTokens(message);
  }
  return estimate + headTokens();
}

export function messageTokens({ content, toolCalls, files = [] }: Message): number {
  const calls = toolCalls === undefined ? 0 : textTokens(JSON.stringify(toolCalls));
  return 4 + textTokens(content) + calls + files.reduce((sum, file) => sum + fileTokens(file), 0);
}

/** An estimate of what providers count: an image by its area, a document by its pages. */
function fileTokens({ mediaType, bytes }: FileRef): number {
  return mediaType.startsWith('image/') ? 1600 : Math.max(2000, Math.ceil(bytes / 30));
}

/** One token for four ASCII characters, and one for every other character. */
export function textTokens(text: string): number {
  const wide = text.match(/[^\x00-\x7f]/g)?.length ?? 0; // oxlint-disable-line no-control-regex
  return Math.ceil((text.length - wide) / 4) + wide;
}
