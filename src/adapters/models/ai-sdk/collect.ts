/**
 * One answer while it arrives, and what became of it. Whatever a provider's way of streaming, it ends here: an answer is only
 * believed when it ended with a reason to finish, and what is none has a class that says what to do next.
 */
import type { ToolCall } from '../../../domain/session/session.js';
import type { ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../../../ports/model.js';
import { failure, failureOf, type Asked } from './failures.js';

export interface Collected {
  text(delta: string): void;
  /** Something that is not kept, such as thoughts; only its length counts. */
  other(length: number): void;
  call(call: RawCall): void;
  /** Words of the AI SDK: stop, length, tool-calls, content-filter, interrupted, error, other. */
  finish(reason: string): void;
  usage(usage: RawUsage): void;
  /** What was said is a refusal, whatever the reason to finish. */
  refuse(): void;
  error(error: unknown): void;
  /** Nothing more is wanted: it has failed already. */
  readonly over: boolean;
  /** To be asked once, when the stream has ended. */
  reply(contentType: string): ModelReply;
}

export interface RawCall {
  id: string;
  name: string;
  /** JSON. */
  input: string;
}

interface RawUsage {
  input?: number | undefined;
  output?: number | undefined;
  cached?: number | undefined;
}

/** An answer longer than this is no answer. */
const MAX_CHARACTERS = 8_000_000;

export function collect(request: ModelRequest, asked: Asked): Collected {
  const calls: RawCall[] = [];
  let text = '';
  let size = 0;
  let ended: string | undefined;
  let usage: RawUsage = {};
  let refused = false;
  let wrong: { error: unknown } | undefined;
  const grow = (length: number) => {
    size += length;
    if (size > MAX_CHARACTERS)
      wrong ??= { error: failure('garbage', asked, `sent more than ${MAX_CHARACTERS} characters in one answer`) };
  };
  return {
    text(delta) {
      grow(delta.length);
      text += delta;
      if (delta !== '' && !wrong) request.onText?.(delta);
    },
    other: grow,
    call(call) {
      grow(call.input.length);
      calls.push(call);
    },
    finish: (reason) => void (ended = reason),
    usage: (counted) => void (usage = counted),
    refuse: () => void (refused = true),
    error: (error) => void (wrong ??= { error }),
    get over() {
      return wrong !== undefined;
    },
    reply(contentType) {
      const noEvents = text === '' && calls.length === 0 && !/event-stream/.test(contentType);
      const finished = ended !== undefined && ended !== 'interrupted' && ended !== 'error';
      if (noEvents && (wrong || !finished)) return failed(noStream(asked, contentType));
      if (wrong) return failed(isFailure(wrong.error) ? wrong.error : failureOf(wrong.error, asked));
      if (!finished) return failed(failure('cut_off', asked, 'ended its answer without saying that it was finished'));
      const bad = unusable(refused ? 'content-filter' : ended!, text, calls.length, asked);
      if (bad) return failed(bad);
      const toolCalls = readCalls(calls);
      if (Array.isArray(toolCalls)) return { ok: true, answer: answerOf(text, toolCalls, ended!, usage, request) };
      if (ended === 'length')
        return failed(failure('context', asked, 'had no room left to finish a tool call', 'raise max_tokens'));
      return failed(failure('garbage', asked, toolCalls.wrong));
    },
  };
}

function unusable(finish: string, text: string, calls: number, asked: Asked): ModelFailure | undefined {
  const empty = text === '' && calls === 0;
  if (finish === 'content-filter' && calls === 0)
    return failure('refused', asked, 'will not answer this: its content filter stopped the answer');
  if (empty && finish === 'length')
    return failure('context', asked, 'had no room left for an answer', 'raise max_tokens or shorten the conversation');
  return empty ? failure('garbage', asked, 'sent an empty answer') : undefined;
}

function noStream(asked: Asked, contentType: string): ModelFailure {
  return failure(
    'garbage',
    asked,
    `sent ${contentType || 'something'} instead of a stream of events`,
    `check the base URL ${asked.address}`,
  );
}

function readCalls(calls: RawCall[]): ToolCall[] | { wrong: string } {
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
  usage: RawUsage,
  request: ModelRequest,
): ModelAnswer {
  const finishes: Record<string, ModelAnswer['finish']> = {
    stop: 'stop',
    'tool-calls': 'tool_calls',
    length: 'length',
    'content-filter': 'filtered',
  };
  return {
    text,
    toolCalls,
    finish: toolCalls.length > 0 && finish !== 'length' ? 'tool_calls' : (finishes[finish] ?? 'other'),
    // Budgets must hold even where a server does not count: four characters are about one token.
    inputTokens:
      usage.input ??
      Math.ceil(request.messages.reduce((sum, one) => sum + one.content.length, request.system.length) / 4),
    outputTokens:
      usage.output ??
      Math.ceil((text.length + toolCalls.reduce((sum, one) => sum + JSON.stringify(one).length, 0)) / 4),
    cachedTokens: usage.cached ?? 0,
    microUsd: 0,
  };
}

function isFailure(error: unknown): error is ModelFailure {
  return typeof error === 'object' && error !== null && 'class' in error && 'message' in error;
}

function failed(why: ModelFailure): ModelReply {
  return { ok: false, failure: why };
}
