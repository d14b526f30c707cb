/**
 * Chat completions, as OpenAI-compatible servers speak them, read without a package between: for models on one's own machine the
 * provider package was most of the time of a call, and all of the time of a start. It takes what real servers send: arguments in
 * pieces or whole, calls without an index, an index used twice, thoughts under several names.
 */
import { StringDecoder } from 'node:string_decoder';
import type { ModelReply, ModelRequest } from '../../../ports/model.js';
import { collect, type Collected, type RawCall } from './collect.js';
import { eventReader } from './sse.js';
import type { Asked } from './failures.js';
import type { Http, Incoming } from './http.js';
import { chatBody } from './chat-body.js';

const MAX_ERROR_CHARACTERS = 64_000;

export function chatCompletions(given: {
  http: Http;
  baseUrl: string;
  model: string;
  key?: string;
  headers?: Record<string, string>;
  /** Says who asks, for a script behind `guild model-server`; only to a server on this machine. */
  introduced?: boolean;
}) {
  const url = new URL(`${given.baseUrl}/chat/completions`);
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...(given.key ? { authorization: `Bearer ${given.key}` } : {}),
    ...given.headers,
  };

  return async (request: ModelRequest, asked: Asked, signal: AbortSignal): Promise<ModelReply> => {
    const incoming = await given.http.send(url, {
      method: 'POST',
      headers: given.introduced
        ? { ...headers, 'x-guild-agent': request.agent, 'x-guild-task': request.task }
        : headers,
      body: chatBody(given.model, request),
      signal,
    });
    if (incoming.head.statusCode !== 200) throw await refusal(incoming);
    const answer = collect(request, asked);
    const calls = callPieces();
    const events = eventReader((data) => readEvent(data, answer, calls));
    const decoder = new StringDecoder('utf8');
    const poured = incoming.pour((chunk) => {
      if (answer.over) incoming.head.destroy();
      else events.push(decoder.write(chunk));
    });
    await poured.catch((cause: unknown) => {
      if (!answer.over) throw Object.assign(new Error('the answer broke off', { cause }), { statusCode: 200 });
    });
    events.end();
    for (const call of calls.whole()) answer.call(call);
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

function readEvent(data: string, answer: Collected, calls: CallPieces): void {
  if (data === '[DONE]' || answer.over) return;
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

function readDelta(delta: Delta, answer: Collected, calls: CallPieces): void {
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
  if (typeof thought === 'string') answer.other(thought.length);
  for (const piece of delta.tool_calls ?? []) answer.other(calls.add(piece));
}

interface CallPieces {
  /** Returns how much it brought. */
  add(piece: CallDelta): number;
  whole(): RawCall[];
}

function callPieces(): CallPieces {
  const calls: (RawCall & { index: number | undefined })[] = [];
  const find = ({ index, id, function: said }: CallDelta) => {
    const found = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
    // A new id together with a name begins another call, even where the index says otherwise.
    const other = id && found?.id && id !== found.id && said?.name;
    return other || (index === undefined && said?.name) ? undefined : found;
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
    whole: () => calls.map(({ id, name, input }, at) => ({ id: id || `call_${at + 1}`, name, input })),
  };
}

/** What the server said instead of an answer, in the shape of the AI SDK's errors. */
async function refusal(incoming: Incoming): Promise<object> {
  const { statusCode, headers } = incoming.head;
  const decoder = new StringDecoder('utf8');
  let body = '';
  const poured = incoming.pour((chunk) => {
    if (body.length < MAX_ERROR_CHARACTERS) body += decoder.write(chunk);
    else incoming.head.destroy();
  });
  await poured.catch(() => undefined);
  return {
    name: 'APICallError',
    message: `status ${statusCode}`,
    statusCode,
    responseBody: body,
    responseHeaders: headers,
  };
}
