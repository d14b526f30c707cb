/** Serves one stand-in: sends a refusal, or plays the model and sends its answer. */
import { parseMapping } from '../../../domain/mapping.js';
import type http from 'node:http';
import type { Model, ModelFailure } from '../../../ports/model.js';
import { listen, readBody, sendJson, type ModelServer } from './http.js';
import type { Quirk } from './quirks/quirk.js';
import type { Accepted, StandIn } from './wire/stand-in.js';

/** More than any provider accepts, so that the provider's own limit decides. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

interface Stage {
  standIn: StandIn;
  model: Model;
  quirk?: Quirk | undefined;
}

export function serveStandIn(options: Stage & { host?: string; port?: number }): Promise<ModelServer> {
  const { standIn } = options;
  return listen({
    ...options,
    base: standIn.base,
    answer: (request, response) => answer(options, request, response),
    failed: (response, message) => sendJson(response, 500, standIn.errorBody({ message, status: 500 })),
  });
}

async function answer(stage: Stage, request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const { standIn } = stage;
  const url = new URL(request.url ?? '/', 'http://stand-in');
  if (request.method === 'GET' && url.pathname === '/health') return sendJson(response, 200, { ok: true });
  const page = request.method === 'GET' ? standIn.get?.(url.pathname) : undefined;
  if (page !== undefined) return sendJson(response, page.status, page.body);
  if (request.method !== 'POST')
    return sendJson(response, 405, standIn.errorBody({ message: 'Method Not Allowed', status: 405 }));
  const text = await readBody(request, MAX_BODY_BYTES);
  const verdict = standIn.receive({
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: parseMapping(text ?? '{}'),
    bytes: text === undefined ? MAX_BODY_BYTES : Buffer.byteLength(text),
  });
  if ('refusals' in verdict) {
    const [first] = verdict.refusals;
    const rules = [...new Set(verdict.refusals.map(({ rule }) => rule))].join(', ');
    return sendJson(response, first!.status ?? 400, standIn.errorBody(first!), { 'x-guild-refused': rules });
  }
  await play(stage, verdict, response);
}

async function play(
  { standIn, model, quirk }: Stage,
  accepted: Accepted,
  response: http.ServerResponse,
): Promise<void> {
  const { isStream, encoder } = accepted;
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  let hasStarted = false;
  const write = (encode: () => string) => {
    if (!hasStarted) {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
      response.write(encoder.open());
    }
    hasStarted = true;
    response.write(encode());
  };
  const request = { ...accepted.request, signal: closed.signal };
  const streams = isStream && quirk === undefined;
  const reply = await model.call(streams ? { ...request, onText: (text) => write(() => encoder.text(text)) } : request);
  if (response.destroyed) return;
  if (!reply.ok) return sendFailure(standIn, reply.failure, response, hasStarted);
  if (quirk) {
    const { body, contentType = 'text/event-stream', status = 200 } = quirk.reply(reply.answer, accepted);
    response.writeHead(status, { 'content-type': contentType });
    return void response.end(body);
  }
  if (!isStream) return sendJson(response, 200, encoder.whole(reply.answer));
  if (!hasStarted && reply.answer.text !== '') write(() => encoder.text(reply.answer.text));
  write(() => encoder.close(reply.answer));
  response.end();
}

function sendFailure(
  standIn: StandIn,
  failure: ModelFailure,
  response: http.ServerResponse,
  hasStarted: boolean,
): void {
  if (hasStarted || failure.class === 'cut_off' || failure.class === 'aborted') {
    if (!hasStarted) response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"id":"brok', () => response.destroy());
    return;
  }
  if (failure.class === 'garbage') {
    response.writeHead(200, { 'content-type': 'text/html' });
    return void response.end('<!doctype html><title>Welcome</title><h1>It works!</h1>\n');
  }
  const { status, body, headers } = standIn.failure(failure);
  sendJson(response, status, body, headers);
}
