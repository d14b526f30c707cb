/**
 * Reads the chunks of chat completions. It accepts what real servers send: arguments whole or in
 * pieces, calls without an index or with a repeated one, reasoning under several names.
 */
import type { AnswerCollector, RawCall } from './collect.js';
import { readArguments } from './text/repair.js';
import { thoughtPieces, type ThoughtPieces } from './thought-pieces.js';
import { thinkFilter, type ThinkFilter } from './text/think-block.js';

interface ChunkReader {
  read(data: string): void;
  /** After the last event. */
  end(): void;
  /** The fields that go back with the message; undefined if there are none. */
  thoughts(): Record<string, unknown> | undefined;
}

/** `thoughtFields`: which fields of the answer are thoughts to keep. */
export function chunkReader(answer: AnswerCollector, thoughtFields: readonly string[] = []): ChunkReader {
  const calls = callPieces();
  const texts = thinkFilter();
  const thoughts = thoughtPieces(thoughtFields);
  return {
    read: (data) => readEvent(data, answer, { calls, texts, thoughts }),
    thoughts: thoughts.complete,
    end() {
      answer.text(texts.end());
      for (const call of calls.complete()) answer.call(call);
    },
  };
}

interface Chunk {
  error?: unknown;
  object?: string;
  choices?: Choice[];
  usage?: Usage | null;
}

interface Choice {
  index?: number;
  delta?: Delta;
  message?: Delta;
  finish_reason?: string | null;
  usage?: Usage | null;
}

/** The last three fields have the cached tokens of OpenAI, DeepSeek and Moonshot. */
interface Usage {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
  prompt_cache_hit_tokens?: number;
  cached_tokens?: number;
}

interface Delta {
  content?: string | { type?: string; text?: string }[] | null;
  refusal?: string | null;
  reasoning?: unknown;
  reasoning_content?: unknown;
  reasoning_details?: unknown;
  tool_calls?: CallDelta[] | null;
  /** The form before tool calls. */
  function_call?: CallDelta['function'] | null;
}

interface CallDelta {
  index?: number;
  id?: string | null;
  function?: { name?: string | null; arguments?: unknown };
}

const FINISH: Record<string, string> = {
  stop: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  sensitive: 'content-filter',
  model_length: 'length',
  insufficient_system_resource: 'interrupted',
  network_error: 'interrupted',
  abort: 'interrupted',
  error: 'error',
};

interface Pieces {
  calls: CallPieces;
  texts: ThinkFilter;
  thoughts: ThoughtPieces;
}

function readEvent(data: string, answer: AnswerCollector, pieces: Pieces): void {
  if (answer.hasFailed) return;
  if (data === '[DONE]') return answer.done();
  let chunk: Chunk;
  try {
    chunk = JSON.parse(data) as Chunk;
  } catch {
    return answer.error({ name: 'JSONParseError', message: data.slice(0, 120) });
  }
  if (typeof chunk !== 'object' || chunk === null)
    return answer.error({ name: 'JSONParseError', message: data.slice(0, 120) });
  if (chunk.error) return answer.error(chunk.error);
  if (chunk.object === 'error') return answer.error(chunk);
  const choice = chunk.choices?.find(({ index }) => (index ?? 0) === 0);
  const delta = choice?.delta ?? choice?.message;
  if (delta) readDelta(delta, answer, pieces);
  const reason = choice?.finish_reason;
  if (reason) answer.finish(FINISH[reason] ?? 'other', reason);
  const usage = chunk.usage ?? choice?.usage;
  if (usage)
    answer.usage({
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
      cached: usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
    });
}

function readDelta(delta: Delta, answer: AnswerCollector, { calls, texts, thoughts }: Pieces): void {
  const { content } = delta;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  for (const { type, text } of parts) {
    if (typeof text !== 'string' || type === 'thinking') continue;
    const shown = texts.push(text);
    answer.text(shown);
    answer.skip(text.length - shown.length);
  }
  if (delta.refusal) {
    answer.text(delta.refusal);
    answer.refuse();
  }
  answer.skip(thoughts.add(delta));
  for (const piece of delta.tool_calls ?? []) answer.skip(calls.add(piece));
  if (delta.function_call) answer.skip(calls.add({ index: 0, function: delta.function_call }));
}

interface CallPieces {
  add(piece: CallDelta): number;
  complete(): RawCall[];
}

function callPieces(): CallPieces {
  const calls: (RawCall & { index: number | undefined })[] = [];
  const find = ({ index, id, function: fragment }: CallDelta) => {
    const existing = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
    if (!fragment?.name) return existing;
    // Under one index, a new id, or a name after complete arguments, starts another call.
    const isNewCall = id && existing?.id ? id !== existing.id : existing && isComplete(existing.input);
    return isNewCall || index === undefined ? undefined : existing;
  };
  return {
    add(piece) {
      let call = find(piece);
      if (!call) calls.push((call = { id: '', name: '', input: '', index: piece.index }));
      const args = piece.function?.arguments;
      const more = typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
      call.id ||= piece.id ?? '';
      call.name ||= piece.function?.name ?? '';
      call.input += more;
      return more.length;
    },
    complete: () => calls.map(({ id, name, input }, at) => ({ id: id || `call_${at + 1}`, name, input })),
  };
}

function isComplete(input: string): boolean {
  return input.trim() !== '' && readArguments(input) !== undefined;
}
