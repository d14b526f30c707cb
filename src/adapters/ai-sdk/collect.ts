/**
 * From a provider's stream to one answer, or to the reason why it is none. Streams report errors as parts, and an answer is
 * only believed when it ended with a reason to finish.
 */
import type { ToolCall } from '../../domain/session.js';
import type { ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../../ports/model.js';
import { failure, failureOf, type Asked } from './failures.js';
import type { LanguageModel } from './prompt.js';

type Usage = { input?: number | undefined; output?: number | undefined; cached?: number | undefined };

/** An answer longer than this is no answer. */
const MAX_CHARACTERS = 8_000_000;

type Stream = Awaited<ReturnType<LanguageModel['doStream']>>['stream'];

export async function collect(
  stream: Stream,
  request: ModelRequest,
  asked: Asked,
  contentType: string,
  stop: AbortController,
): Promise<ModelReply> {
  let text = '';
  let size = 0;
  let finish: string | undefined;
  let usage: Usage = {};
  const calls: { id: string; name: string; input: string }[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value: part } = await reader.read();
    if (done) break;
    if (part.type === 'text-delta') {
      text += part.delta;
      request.onText?.(part.delta);
    } else if (part.type === 'tool-call' && !part.providerExecuted)
      calls.push({ id: part.toolCallId, name: part.toolName, input: part.input });
    else if (part.type === 'finish') {
      finish = part.finishReason.unified;
      usage = {
        input: part.usage.inputTokens.total,
        output: part.usage.outputTokens.total,
        cached: part.usage.inputTokens.cacheRead,
      };
    } else if (part.type === 'error') {
      stop.abort();
      const wordless = !/event-stream/.test(contentType) && text === '';
      return failed(wordless ? noStream(asked, contentType) : failureOf(part.error, asked));
    }
    size += 'delta' in part ? part.delta.length : 0;
    if (size > MAX_CHARACTERS) {
      stop.abort();
      return failed(failure('garbage', asked, `sent more than ${MAX_CHARACTERS} characters in one answer`));
    }
  }
  const wrong = unfinished(finish, text, calls.length, asked, contentType);
  if (wrong) return failed(wrong);
  const toolCalls = readCalls(calls);
  if (!Array.isArray(toolCalls)) {
    if (finish === 'length')
      return failed(failure('context', asked, 'had no room left to finish a tool call', 'raise max_tokens'));
    return failed(failure('garbage', asked, toolCalls.wrong));
  }
  return { ok: true, answer: answerOf(text, toolCalls, finish!, usage, request) };
}

function unfinished(
  finish: string | undefined,
  text: string,
  calls: number,
  asked: Asked,
  contentType: string,
): ModelFailure | undefined {
  const empty = text === '' && calls === 0;
  if (finish === undefined || finish === 'interrupted' || finish === 'error') {
    if (empty && !/event-stream/.test(contentType)) return noStream(asked, contentType);
    return failure('cut_off', asked, 'ended its answer without saying that it was finished');
  }
  if (finish === 'content-filter' && calls === 0)
    return failure('refused', asked, 'will not answer this: its content filter stopped the answer');
  if (empty && finish === 'length')
    return failure('context', asked, 'had no room left for an answer', 'raise max_tokens or shorten the conversation');
  if (empty) return failure('garbage', asked, 'sent an empty answer');
  return undefined;
}

function noStream(asked: Asked, contentType: string): ModelFailure {
  return failure(
    'garbage',
    asked,
    `sent ${contentType || 'something'} instead of a stream of events`,
    `check the base URL ${asked.address}`,
  );
}

function readCalls(calls: { id: string; name: string; input: string }[]): ToolCall[] | { wrong: string } {
  const read: ToolCall[] = [];
  for (const { id, name, input } of calls) {
    const args = parseObject(input);
    if (!args) return { wrong: `called ${name} with arguments that are no JSON object: ${input.slice(0, 120)}` };
    read.push({ id, name, arguments: args });
  }
  return read;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

function answerOf(
  text: string,
  toolCalls: ToolCall[],
  finish: string,
  usage: Usage,
  request: ModelRequest,
): ModelAnswer {
  const finishes: Record<string, ModelAnswer['finish']> = {
    stop: 'stop',
    'tool-calls': 'tool_calls',
    length: 'length',
    'content-filter': 'filtered',
  };
  // Budgets must hold even where a server does not count: four characters are about one token.
  const written = request.messages.reduce((sum, one) => sum + one.content.length, request.system.length);
  return {
    text,
    toolCalls,
    finish: toolCalls.length > 0 && finish !== 'length' ? 'tool_calls' : (finishes[finish] ?? 'other'),
    inputTokens: usage.input ?? Math.ceil(written / 4),
    outputTokens:
      usage.output ??
      Math.ceil((text.length + toolCalls.reduce((sum, one) => sum + JSON.stringify(one).length, 0)) / 4),
    cachedTokens: usage.cached ?? 0,
    microUsd: 0,
  };
}

function failed(why: ModelFailure): ModelReply {
  return { ok: false, failure: why };
}
