/**
 * Collects a streamed answer, for every provider. An answer counts only if the stream ended with a
 * finish reason. Anything else is a failure whose class determines what happens next.
 */
import { defined } from '../../../domain/defined.js';
import { boundedCall, type ToolCall } from '../../../domain/session/session.js';
import type { ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../../../ports/model.js';
import { failure, failureOf, type CallInfo } from './failures.js';
import { readArguments } from './text/repair.js';

export interface AnswerCollector {
  text(delta: string): void;
  /** Content that is not kept, such as reasoning; only its length counts. */
  skip(length: number): void;
  call(call: RawCall): void;
  /**
   * The AI SDK's reasons: stop, length, tool-calls, content-filter, interrupted, error, other; and
   * the provider's own word.
   */
  finish(reason: string, raw?: string): void;
  /** The stream says that it is complete. If it gave no finish reason, this counts as one. */
  done(): void;
  usage(usage: RawUsage): void;
  /** The text is a refusal, regardless of the finish reason. */
  refuse(): void;
  error(error: unknown): void;
  /** True once the answer has failed; the rest of the stream is not needed. */
  readonly hasFailed: boolean;
  /** Call once, after the stream has ended. */
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
  written?: number | undefined;
}

/** A longer answer counts as garbage. */
const MAX_CHARACTERS = 8_000_000;

export function collect(request: ModelRequest, info: CallInfo): AnswerCollector {
  const calls: RawCall[] = [];
  let text = '';
  let size = 0;
  let finishReason: string | undefined;
  let rawReason: string | undefined;
  let usage: RawUsage = {};
  let refused = false;
  let fault: { error: unknown } | undefined;
  const grow = (length: number) => {
    size += length;
    if (size > MAX_CHARACTERS)
      fault ??= { error: failure('garbage', info, `sent more than ${MAX_CHARACTERS} characters in one answer`) };
  };
  return {
    text(delta) {
      grow(delta.length);
      text += delta;
      if (delta !== '' && !fault) request.onText?.(delta);
    },
    skip: grow,
    call(call) {
      grow(call.input.length);
      calls.push(call);
    },
    finish(reason, raw) {
      finishReason = reason;
      rawReason = raw;
    },
    done: () => void (finishReason ??= 'stop'),
    usage: (counted) => void (usage = counted),
    refuse: () => void (refused = true),
    error: (error) => void (fault ??= { error }),
    get hasFailed() {
      return fault !== undefined;
    },
    reply(contentType) {
      const isEmpty = text === '' && calls.length === 0 && !/event-stream|json/.test(contentType);
      const finished = finishReason !== undefined && finishReason !== 'interrupted' && finishReason !== 'error';
      if (isEmpty && (fault || !finished)) return failed(noStream(info, contentType));
      if (fault) return failed(isFailure(fault.error) ? fault.error : failureOf(fault.error, info));
      if (!finished) return failed(brokenOff(info, rawReason));
      const unusableAnswer = unusable(refused ? 'content-filter' : finishReason!, text, calls.length, info);
      if (unusableAnswer) return failed(unusableAnswer);
      const toolCalls = readCalls(calls);
      if (Array.isArray(toolCalls))
        return { ok: true, answer: answerOf(text, toolCalls, finishReason!, usage, request) };
      if (finishReason === 'length')
        return failed(failure('context', info, 'ran out of tokens during a tool call', 'raise max_tokens'));
      return failed(failure('garbage', info, toolCalls.problem));
    },
  };
}

function unusable(finish: string, text: string, calls: number, info: CallInfo): ModelFailure | undefined {
  const empty = text === '' && calls === 0;
  if (finish === 'content-filter') {
    const why = text === '' ? 'its content filter stopped the answer' : `it said: ${text.trim().slice(0, 300)}`;
    return failure('refused', info, `refused to answer: ${why}`);
  }
  if (empty && finish === 'length')
    return failure(
      'context',
      info,
      'ran out of tokens before an answer',
      'raise max_tokens or shorten the conversation',
    );
  return empty ? failure('garbage', info, 'sent an empty answer') : undefined;
}

function brokenOff(info: CallInfo, reason: string | undefined): ModelFailure {
  return failure(
    'cut_off',
    info,
    reason === undefined ? 'ended its answer without a finish reason' : `broke off its answer: ${reason}`,
  );
}

function noStream(info: CallInfo, contentType: string): ModelFailure {
  return failure(
    'garbage',
    info,
    `sent ${contentType || 'something'} instead of an event stream`,
    `check the base URL ${info.address}`,
  );
}

function readCalls(calls: RawCall[]): ToolCall[] | { problem: string } {
  const parsed: ToolCall[] = [];
  for (const { id, name, input } of calls) {
    const args = readArguments(input);
    if (!args) return { problem: `called ${name} with arguments that are not a JSON object: ${input.slice(0, 120)}` };
    parsed.push(boundedCall({ id, name, arguments: args }));
  }
  return parsed;
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
  return defined({
    text,
    toolCalls,
    finish: toolCalls.length > 0 && finish !== 'length' ? 'tool_calls' : (finishes[finish] ?? 'other'),
    // Servers may omit usage, but budgets need it: estimate four characters per token.
    inputTokens:
      usage.input ??
      Math.ceil(request.messages.reduce((sum, message) => sum + message.content.length, request.system.length) / 4),
    outputTokens:
      usage.output ??
      Math.ceil((text.length + toolCalls.reduce((sum, call) => sum + JSON.stringify(call).length, 0)) / 4),
    cachedTokens: usage.cached ?? 0,
    writtenTokens: usage.written || undefined,
    microUsd: 0,
  });
}

function isFailure(error: unknown): error is ModelFailure {
  return typeof error === 'object' && error !== null && 'class' in error && 'message' in error;
}

function failed(cause: ModelFailure): ModelReply {
  return { ok: false, failure: cause };
}
