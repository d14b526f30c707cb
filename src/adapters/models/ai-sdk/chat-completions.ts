/**
 * Chat completions of OpenAI-compatible servers, without a provider package: loading and running
 * one would dominate the time of a local call. It accepts what real servers send: arguments whole
 * or in pieces, calls without an index or with a repeated one, reasoning under several names.
 */
import { StringDecoder } from 'node:string_decoder';
import type { ModelReply, ModelRequest } from '../../../ports/model.js';
import { chunkReader } from './chunk.js';
import { collect } from './collect.js';
import { eventReader } from './sse.js';
import type { CallInfo } from './failures.js';
import type { Http, Incoming } from './http.js';
import { introduction } from './introduction.js';
import type { ChatBody } from './chat-body.js';
import type { Dialect } from './dialect.js';
import type { Context } from './context.js';

const MAX_ERROR_CHARACTERS = 64_000;
const MAX_BODY_CHARACTERS = 8_000_000;

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

  return async (request: ModelRequest, info: CallInfo, signal: AbortSignal, context: Context): Promise<ModelReply> => {
    const incoming = await options.http.send(url, {
      method: 'POST',
      headers: options.introduced ? { ...headers, ...introduction(request) } : headers,
      body: Buffer.from(options.chatBody(options.model, request, options.dialect, context)),
      signal,
    });
    if (incoming.head.statusCode !== 200) throw await refusal(incoming);
    const answer = collect(request, info);
    const chunks = chunkReader(answer, options.dialect.thoughtFields);
    const contentType = incoming.head.headers['content-type'] ?? '';
    const events = /json/.test(contentType) ? wholeBody(chunks.read) : eventReader(chunks.read);
    const decoder = new StringDecoder('utf8');
    const finished = incoming.consume((chunk) => {
      if (answer.hasFailed) incoming.head.destroy();
      else events.push(decoder.write(chunk));
    });
    await finished.catch((cause: unknown) => {
      if (!answer.hasFailed) throw Object.assign(new Error('the answer was cut off', { cause }), { statusCode: 200 });
    });
    events.end();
    chunks.end();
    const reply = answer.reply(contentType);
    const fields = chunks.thoughts();
    if (reply.ok && fields) {
      const { text: content, toolCalls } = reply.answer;
      reply.answer.provider = context.thoughts.keep([{ type: 'fields', fields }], { content, toolCalls });
    }
    return reply;
  };
}

/** Some servers answer a streamed request with one JSON body, which is read as one event. */
function wholeBody(read: (data: string) => void) {
  let body = '';
  return {
    push(text: string) {
      if (body.length < MAX_BODY_CHARACTERS) body += text;
    },
    end: () => read(body),
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
