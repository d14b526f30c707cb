/**
 * `fetch` for the AI SDK's providers, over our own HTTP client. It supports only what they need.
 */
import { isMapping, parseMapping } from '../../../domain/mapping.js';
import { defined } from '../../../domain/defined.js';
import type { Http, Incoming } from './http.js';

export function httpFetch(http: Http): typeof fetch {
  return async (input, init = {}) => {
    if (typeof input !== 'string' && !(input instanceof URL))
      throw new TypeError('httpFetch takes a URL, not a Request');
    const { body } = init;
    if (body !== undefined && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array)) {
      throw new TypeError('httpFetch takes a string or bytes as body');
    }
    const incoming = await http.send(
      typeof input === 'string' ? new URL(input) : input,
      defined({
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        body: typeof body === 'string' && body !== '' ? Buffer.from(body) : body || undefined,
        signal: init.signal,
      }),
    );
    const { statusCode, statusMessage, rawHeaders, headers: fields } = incoming.head;
    const status = statusCode!;
    const headers = headerPairs(rawHeaders);
    if (init.method === 'HEAD' || [204, 205, 304].includes(status))
      return new Response(drain(incoming), { status, statusText: statusMessage, headers });
    if (status === 200 && fields['content-type']?.startsWith('application/json')) return wholeBody(incoming, headers);
    return new Response(streamOf(incoming), { status, statusText: statusMessage, headers });
  };
}

/** Some gateways report an error with status 200, where the packages expect a stream of events. */
async function wholeBody(incoming: Incoming, headers: [string, string][]): Promise<Response> {
  const body = await new Response(streamOf(incoming)).text();
  return new Response(body, { status: isError(body) ? 502 : 200, headers });
}

function isError(body: string): boolean {
  return isMapping(parseMapping(body)?.['error']);
}

function drain(incoming: Incoming): null {
  incoming.body.resume();
  return null;
}

function streamOf(incoming: Incoming): ReadableStream<Uint8Array> {
  const { body, head } = incoming;
  let cancelled = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const finished = incoming.consume((chunk) => {
          if (cancelled) return;
          controller.enqueue(chunk);
          if ((controller.desiredSize ?? 1) <= 0) body.pause();
        });
        finished.then(
          () => cancelled || controller.close(),
          (error) => controller.error(error),
        );
      },
      pull: () => void body.resume(),
      cancel() {
        cancelled = true;
        head.destroy();
      },
    },
    { highWaterMark: 64 },
  );
}

function headerPairs(raw: string[]): [string, string][] {
  const headers: [string, string][] = [];
  for (let i = 0; i < raw.length; i += 2) headers.push([raw[i]!, raw[i + 1]!]);
  return headers;
}
