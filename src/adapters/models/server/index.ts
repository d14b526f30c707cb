/**
 * Serves any model over OpenAI's chat completions, so that real provider code and real HTTP can be
 * tested without a key. The agent is the header `x-guild-agent`, or else the model's name after the
 * slash (`scripted/planner` → planner). Failures look like those of real servers: 429, 500, an HTML
 * page, a stream that ends in mid-word.
 */
import type http from 'node:http';
import { attempt } from '../../../domain/attempt.js';
import type { Message, ToolCall } from '../../../domain/session/session.js';
import type {
  JsonSchema,
  Model,
  ModelAnswer,
  ModelFailure,
  ModelFailureClass,
  ModelRequest,
} from '../../../ports/model.js';
import { listen, readBody, sendJson, type ModelServer } from './http.js';

export type { ModelServer } from './http.js';

const MAX_BODY_BYTES = 32 * 1024 * 1024;

export function serveModel(options: { model: Model; host?: string; port?: number }): Promise<ModelServer> {
  return listen({
    ...options,
    base: '/v1',
    answer: (request, response) => answer(options.model, request, response),
    failed: (response, message) => sendJson(response, 500, errorBody('server_error', message)),
  });
}

const SCRIPTED = { id: 'scripted', object: 'model', created: 0, owned_by: 'guildhall' };

async function answer(model: Model, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  // Accept paths with and without /v1, because people omit it from base URLs.
  const path = (request.url ?? '/')
    .split('?')[0]!
    .replace(/\/+$/, '')
    .replace(/^\/v1(?=\/|$)/, '');
  if (request.method === 'GET' && (path === '' || path === '/health')) return sendJson(response, 200, { ok: true });
  if (request.method === 'GET' && path === '/models') {
    return sendJson(response, 200, { object: 'list', data: [SCRIPTED] });
  }
  if (request.method === 'GET' && path.startsWith('/models/')) {
    const id = path.slice('/models/'.length);
    if (id === SCRIPTED.id) return sendJson(response, 200, SCRIPTED);
    return sendJson(response, 404, errorBody('model_not_found', `there is no model ${id}; the only one is scripted`));
  }
  if (path !== '/chat/completions') {
    const other = path === '/responses' ? '; for this API use --as openai-responses' : '';
    return sendJson(response, 404, errorBody('not_found', `unknown path ${request.method} ${path}${other}`));
  }
  if (request.method !== 'POST') return sendJson(response, 405, errorBody('method_not_allowed', 'use POST'));
  const body = await readBody(request, MAX_BODY_BYTES);
  if (body === undefined)
    return sendJson(
      response,
      413,
      errorBody('request_too_large', `a request may have at most ${MAX_BODY_BYTES} bytes`),
    );
  const wire = parseChat(body);
  if (typeof wire === 'string') return sendJson(response, 400, errorBody('invalid_request_error', wire));
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const modelRequest = toRequest(wire, request.headers, closed.signal);
  if (wire.stream) await sendStream(model, modelRequest, wire, response);
  else await sendWhole(model, modelRequest, wire, response);
}

async function sendWhole(
  model: Model,
  modelRequest: ModelRequest,
  wire: Chat,
  response: http.ServerResponse,
): Promise<void> {
  const reply = await model.call(modelRequest);
  if (!reply.ok) return sendFailure(reply.failure, response, wire, false);
  const { text, toolCalls } = reply.answer;
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: toolCalls.length > 0 ? toolCalls.map(wireCall) : undefined,
  };
  sendJson(response, 200, {
    ...envelope(wire, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: wireFinish(reply.answer) }],
    usage: wireUsage(reply.answer),
  });
}

async function sendStream(
  model: Model,
  modelRequest: ModelRequest,
  wire: Chat,
  response: http.ServerResponse,
): Promise<void> {
  let hasStarted = false;
  const event = (choices: unknown[], more: object = {}) => {
    if (!hasStarted) response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    hasStarted = true;
    response.write(`data: ${JSON.stringify({ ...envelope(wire, 'chat.completion.chunk'), choices, ...more })}\n\n`);
  };
  const delta = (part: object, finish: string | null = null) =>
    event([{ index: 0, delta: part, finish_reason: finish }]);
  let streamed = '';
  const onText = (text: string) => {
    delta(streamed === '' ? { role: 'assistant', content: text } : { content: text });
    streamed += text;
  };
  const reply = await model.call({ ...modelRequest, onText });
  if (!reply.ok) return sendFailure(reply.failure, response, wire, hasStarted);
  if (streamed === '' && reply.answer.text !== '') onText(reply.answer.text);
  for (const [index, call] of reply.answer.toolCalls.entries()) {
    const [first, ...rest] = fragments(call);
    delta({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: first } }] });
    for (const part of rest) delta({ tool_calls: [{ index, function: { arguments: part } }] });
  }
  delta({}, wireFinish(reply.answer));
  if (wire.stream_options?.include_usage) event([], { usage: wireUsage(reply.answer) });
  response.end('data: [DONE]\n\n');
}

/** Arguments in arbitrary pieces, as real servers send them. */
function fragments(call: ToolCall): string[] {
  const text = JSON.stringify(call.arguments);
  const size = Math.max(4, Math.ceil(text.length / 4));
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [''];
}

const STATUS: Partial<Record<ModelFailureClass, [number, string]>> = {
  auth: [401, 'invalid_api_key'],
  quota: [429, 'insufficient_quota'],
  rate: [429, 'rate_limit_exceeded'],
  context: [400, 'context_length_exceeded'],
  refused: [400, 'content_filter'],
  unknown_model: [404, 'model_not_found'],
  unscripted: [422, 'unscripted'],
};

function sendFailure(failure: ModelFailure, response: http.ServerResponse, wire: Chat, hasStarted: boolean): void {
  if (response.destroyed) return;
  if (hasStarted || failure.class === 'cut_off') {
    if (!hasStarted)
      response.writeHead(200, { 'content-type': wire.stream ? 'text/event-stream' : 'application/json' });
    response.write('data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"brok', () => response.destroy());
    return;
  }
  if (failure.class === 'aborted') return void response.destroy();
  if (failure.class === 'garbage') {
    response.writeHead(200, { 'content-type': 'text/html' });
    return void response.end('<!doctype html><title>Welcome</title><h1>It works!</h1>\n');
  }
  const [status, code] = STATUS[failure.class] ?? [500, 'server_error'];
  const wait = failure.retryAfterMs === undefined ? {} : { 'retry-after': String(failure.retryAfterMs / 1000) };
  sendJson(response, status, errorBody(code, failure.message), wait);
}

interface WireMessage {
  role: string;
  content?: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

interface Chat {
  model: string;
  messages: WireMessage[];
  tools?: { function: { name: string; description?: string; parameters?: JsonSchema } }[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  temperature?: number;
  max_tokens?: number;
}

function parseChat(body: string): Chat | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch (error) {
    return `the body is not JSON: ${(error as Error).message}`;
  }
  const chat = parsed as Partial<Chat> | null;
  if (typeof chat?.model !== 'string') return '"model" must be a string';
  if (!Array.isArray(chat.messages) || chat.messages.some((message) => typeof message?.role !== 'string'))
    return '"messages" must be a list of messages';
  if (chat.messages.some(({ tool_calls: calls }) => calls != null && !(Array.isArray(calls) && calls.every(isCall))))
    return '"tool_calls" must be a list of calls with a function that has a name';
  if (chat.tools != null && !(Array.isArray(chat.tools) && chat.tools.every((tool) => isCall(tool))))
    return '"tools" must be a list of functions with a name';
  return chat as Chat;
}

function isCall(call: { function?: { name?: unknown } } | null): boolean {
  return typeof call?.function?.name === 'string';
}

function toRequest(wire: Chat, headers: http.IncomingHttpHeaders, signal: AbortSignal): ModelRequest {
  const isSystem = (message: WireMessage) => message.role === 'system' || message.role === 'developer';
  const messages = wire.messages.filter((message) => !isSystem(message)).map(toMessage);
  return {
    model: wire.model,
    system: wire.messages.filter(isSystem).map(textOf).join('\n\n'),
    messages,
    tools: (wire.tools ?? []).map(({ function: tool }) => ({
      name: tool.name,
      description: tool.description ?? '',
      parameters: tool.parameters ?? { type: 'object' },
    })),
    settings: {
      temperature: wire.temperature,
      maxTokens: wire.max_tokens,
    },
    agent: String(headers['x-guild-agent'] ?? wire.model.slice(wire.model.indexOf('/') + 1)),
    task: String(headers['x-guild-task'] ?? 'http'),
    turn: Number(headers['x-guild-turn']) || messages.filter((message) => message.role === 'assistant').length + 1,
    signal,
  };
}

function toMessage(wire: WireMessage): Message {
  const role = wire.role === 'assistant' || wire.role === 'tool' ? wire.role : 'user';
  const calls = (wire.tool_calls ?? []).map((call) => ({
    id: call.id,
    name: call.function.name,
    arguments: parseArguments(call.function.arguments),
  }));
  return {
    role,
    content: textOf(wire),
    toolCalls: calls.length > 0 ? calls : undefined,
    toolCallId: wire.tool_call_id || undefined,
  };
}

function textOf(wire: WireMessage): string {
  if (typeof wire.content === 'string') return wire.content;
  if (!Array.isArray(wire.content)) return '';
  return wire.content.map((part: { text?: unknown }) => (typeof part?.text === 'string' ? part.text : '')).join('');
}

function parseArguments(text: string): Record<string, unknown> {
  return attempt(() => JSON.parse(text) as Record<string, unknown>, {});
}

function wireCall(call: ToolCall) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } };
}

function wireFinish({ finish }: ModelAnswer): string {
  return finish === 'filtered' ? 'content_filter' : finish === 'other' ? 'stop' : finish;
}

function wireUsage({ inputTokens, outputTokens, cachedTokens }: ModelAnswer) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

function envelope(wire: Chat, object: string) {
  return { id: 'chatcmpl-1', object, created: 0, model: wire.model };
}

function errorBody(code: string, message: string) {
  return { error: { message, type: code, code } };
}
