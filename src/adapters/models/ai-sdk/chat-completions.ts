/**
 * Chat completions of OpenAI-compatible servers, without a provider package: loading and running
 * one would dominate the time of a local call. It accepts what real servers send: arguments whole
 * or in pieces, calls without an index or with a repeated one, reasoning under several names.
 */
import { StringDecoder } from 'node:string_decoder';
import type { ModelReply, ModelRequest } from '../../../ports/model.js';
import { collect, type AnswerCollector, type RawCall } from './collect.js';
import { eventReader } from './sse.js';
import type { CallInfo } from './failures.js';
import type { Http, Incoming } from './http.js';
import { introduction } from './introduction.js';
import type { ChatBody } from './chat-body.js';
import type { Dialect } from './dialect.js';

const MAX_ERROR_CHARACTERS = 64_000;

export function chatCompletions(options: {
  http: Http;
  baseUrl: string;
  model: string;
  chatBody: ChatBody;
  dialect: Dialect;
  key?: string;
  headers?: Record<string, string>;
  /**
   * Sends agent and task in headers, for `guild model-server`. Only for a server on this machine.
   */
  introduced?: boolean;
}) {
  const url = new URL(`${options.baseUrl}/chat/completions`);
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(options.key ? { authorization: `Bearer ${options.key}` } : {}),
    ...options.headers,
  };

  return async (request: ModelRequest, info: CallInfo, signal: AbortSignal): Promise<ModelReply> => {
    const incoming = await options.http.send(url, {
      method: 'POST',
      headers: options.introduced ? { ...headers, ...introduction(request) } : headers,
      body: options.chatBody(options.model, request, options.dialect),
      signal,
    });
    if (incoming.head.statusCode !== 200) throw await refusal(incoming);
    const answer = collect(request, info);
    const calls = callPieces();
    const events = eventReader((data) => readEvent(data, answer, calls));
    const decoder = new StringDecoder('utf8');
    const finished = incoming.consume((chunk) => {
      if (answer.hasFailed) incoming.head.destroy();
      else events.push(decoder.write(chunk));
    });
    await finished.catch((cause: unknown) => {
      if (!answer.hasFailed) throw Object.assign(new Error('the answer was cut off', { cause }), { statusCode: 200 });
    });
    events.end();
    for (const call of calls.complete()) answer.call(call);
    return answer.reply(incoming.head.headers['content-type'] ?? '');
  };
}

interface Chunk {
  error?: unknown;
  choices?: { delta?: Delta; message?: Delta; finish_reason?: string | null }[];
  usage?: {
    prompt_tokens?: number;
    completion_tokens?: number;
    prompt_tokens_details?: { cached_tokens?: number } | null;
  } | null;
}

interface Delta {
  content?: string | { type?: string; text?: string }[] | null;
  refusal?: string | null;
  reasoning?: unknown;
  reasoning_content?: unknown;
  tool_calls?: CallDelta[] | null;
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
};

function readEvent(data: string, answer: AnswerCollector, calls: CallPieces): void {
  if (data === '[DONE]' || answer.hasFailed) return;
  let chunk: Chunk;
  try {
    chunk = JSON.parse(data) as Chunk;
  } catch {
    return answer.error({ name: 'JSONParseError', message: data.slice(0, 120) });
  }
  if (typeof chunk !== 'object' || chunk === null)
    return answer.error({ name: 'JSONParseError', message: data.slice(0, 120) });
  if (chunk.error) return answer.error(chunk.error);
  const choice = chunk.choices?.[0];
  const delta = choice?.delta ?? choice?.message;
  if (delta) readDelta(delta, answer, calls);
  if (choice?.finish_reason) answer.finish(FINISH[choice.finish_reason] ?? 'other');
  if (chunk.usage)
    answer.usage({
      input: chunk.usage.prompt_tokens,
      output: chunk.usage.completion_tokens,
      cached: chunk.usage.prompt_tokens_details?.cached_tokens,
    });
}

function readDelta(delta: Delta, answer: AnswerCollector, calls: CallPieces): void {
  const { content } = delta;
  if (typeof content === 'string') answer.text(content);
  else
    for (const part of content ?? [])
      if (typeof part.text === 'string' && part.type !== 'thinking') answer.text(part.text);
  if (delta.refusal) {
    answer.text(delta.refusal);
    answer.refuse();
  }
  const thought = delta.reasoning_content ?? delta.reasoning;
  if (typeof thought === 'string') answer.skip(thought.length);
  for (const piece of delta.tool_calls ?? []) answer.skip(calls.add(piece));
}

interface CallPieces {
  /** Returns the number of characters added. */
  add(piece: CallDelta): number;
  complete(): RawCall[];
}

function callPieces(): CallPieces {
  const calls: (RawCall & { index: number | undefined })[] = [];
  const find = ({ index, id, function: fragment }: CallDelta) => {
    const existing = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
    // A new id together with a name starts another call, even if the index is the same.
    const isNewCall = id && existing?.id && id !== existing.id && fragment?.name;
    return isNewCall || (index === undefined && fragment?.name) ? undefined : existing;
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

/** The server's error response, in the shape of the AI SDK's errors. */
async function refusal(incoming: Incoming): Promise<object> {
  const { statusCode, headers } = incoming.head;
  const decoder = new StringDecoder('utf8');
  let body = '';
  const finished = incoming.consume((chunk) => {
    if (body.length < MAX_ERROR_CHARACTERS) body += decoder.write(chunk);
    else incoming.head.destroy();
  });
  await finished.catch(() => undefined);
  return {
    name: 'APICallError',
    message: `status ${statusCode}`,
    statusCode,
    responseBody: body,
    responseHeaders: headers,
  };
}
