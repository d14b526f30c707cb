/**
 * `fetch` over node:http with connections kept open: on Node 20 three times as fast as the built-in one. Only what model
 * providers need: a text or bytes as body, a streamed response, abort. A response that falls silent for `stallMs` is ended
 * with a StalledError; bytes count, not events, because servers send comments to say that they are still thinking.
 *
 * Redirects are returned, not followed: a key must not travel to another host.
 */
import http from 'node:http';
import https from 'node:https';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';

export class StalledError extends Error {
  constructor(readonly stallMs: number) {
    super(`no data for ${stallMs} ms`);
    this.name = 'StalledError';
  }
}

export function httpFetch(options: { stallMs: number }): typeof fetch {
  const agents = {
    'http:': new http.Agent({ keepAlive: true, scheduling: 'lifo' }),
    'https:': new https.Agent({ keepAlive: true, scheduling: 'lifo' }),
  };
  return async (input, init = {}) => {
    if (typeof input !== 'string' && !(input instanceof URL))
      throw new TypeError('httpFetch takes an address, not a Request');
    const url = typeof input === 'string' ? new URL(input) : input;
    if (url.protocol !== 'http:' && url.protocol !== 'https:')
      throw new TypeError(`not an HTTP address: ${url.protocol}`);
    const response = await send(url, init, agents[url.protocol]);
    return new Response(hasBody(response, init) ? bodyOf(response, options.stallMs, init.signal) : drained(response), {
      status: response.statusCode!,
      statusText: response.statusMessage,
      headers: headersOf(response),
    });
  };
}

function send(url: URL, init: RequestInit, agent: http.Agent, fresh = false): Promise<http.IncomingMessage> {
  const body = init.body;
  if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('httpFetch takes a text or bytes as body');
  }
  return new Promise((resolve, reject) => {
    const signal = init.signal;
    if (signal?.aborted) return reject(abortReason(signal));
    const headers: Record<string, string> = Object.fromEntries(new Headers(init.headers));
    if (body) headers['content-length'] = String(Buffer.byteLength(body));
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      method: init.method ?? 'GET',
      headers,
      agent: fresh ? false : agent,
    });
    const abort = () => request.destroy(abortReason(signal!));
    signal?.addEventListener('abort', abort, { once: true });
    request.once('response', (response) => {
      signal?.removeEventListener('abort', abort);
      resolve(response);
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      signal?.removeEventListener('abort', abort);
      // The server closed an idle connection just as we used it again: it never read this request.
      const idle = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE') && !signal?.aborted;
      if (idle && !fresh) send(url, init, agent, true).then(resolve, reject);
      else reject(signal?.aborted ? abortReason(signal) : error);
    });
    request.end(body ?? undefined);
  });
}

function hasBody(response: http.IncomingMessage, init: RequestInit): boolean {
  return init.method !== 'HEAD' && ![204, 205, 304].includes(response.statusCode!);
}

function drained(response: http.IncomingMessage): null {
  response.resume();
  return null;
}

function headersOf(response: http.IncomingMessage): [string, string][] {
  const pairs: [string, string][] = [];
  const raw = response.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) pairs.push([raw[i]!, raw[i + 1]!]);
  return pairs;
}

function bodyOf(
  response: http.IncomingMessage,
  stallMs: number,
  signal?: AbortSignal | null,
): ReadableStream<Uint8Array> {
  const source = decoded(response);
  let ended = false;
  let fail: (error: Error) => void = () => undefined;
  const stalled = setTimeout(() => fail(new StalledError(stallMs)), stallMs);
  const abort = () => fail(abortReason(signal!));
  /** False if it had ended before. */
  const end = () => {
    if (ended) return false;
    clearTimeout(stalled);
    signal?.removeEventListener('abort', abort);
    return (ended = true);
  };
  const begin = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    fail = (error) => {
      if (!end()) return;
      controller.error(error);
      response.destroy();
    };
    response.on('data', () => stalled.refresh());
    source.on('data', (chunk: Uint8Array) => {
      if (ended) return;
      controller.enqueue(chunk);
      if ((controller.desiredSize ?? 1) <= 0) source.pause();
    });
    source.once('end', () => end() && controller.close());
    source.on('error', fail);
    // `close` without `end`: the connection broke before the body was whole.
    response.once('close', () => {
      if (!response.complete) fail(Object.assign(new Error('the connection closed early'), { code: 'ECONNRESET' }));
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  };
  const cancel = () => {
    end();
    response.destroy();
  };
  return new ReadableStream<Uint8Array>(
    { start: begin, pull: () => void source.resume(), cancel },
    { highWaterMark: 64 },
  );
}

/** We ask for no compression; some servers compress all the same. */
function decoded(response: http.IncomingMessage): Readable {
  const makers: Record<string, () => NodeJS.ReadWriteStream> = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  };
  const make = makers[response.headers['content-encoding'] ?? ''];
  if (!make) return response;
  const decoder = make() as unknown as Readable & NodeJS.WritableStream;
  response.once('error', (error) => decoder.destroy(error));
  return response.pipe(decoder);
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException('This operation was aborted', 'AbortError');
}
