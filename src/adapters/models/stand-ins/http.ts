/** The HTTP side of a model server: listening, reading a body, sending JSON. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ModelServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

export async function listen(options: {
  host?: string;
  port?: number;
  /** The path at the end of the base URL. */
  base: string;
  answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void>;
  /** Reports an unexpected error, if nothing has been sent yet. */
  failed(response: http.ServerResponse, message: string): void;
}): Promise<ModelServer> {
  const host = options.host ?? '127.0.0.1';
  const server = http.createServer((request, response) => {
    const refused = refusalOf(request, host);
    if (refused !== undefined) return sendJson(response, refused.status, { error: { message: refused.message } });
    options.answer(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else options.failed(response, error instanceof Error ? error.message : String(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}${options.base}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * A page of another site must not use a server on this machine, not even under a host name that it
 * points here (DNS rebinding). A server that listens for other machines answers under any name.
 */
function refusalOf(
  { headers, method }: http.IncomingMessage,
  listens: string,
): { status: number; message: string } | undefined {
  const name = hostName(headers.host ?? '');
  if (isLoopback(listens) && !isLoopback(name) && name !== listens.toLowerCase())
    return { status: 421, message: `this server does not answer under the name ${name}` };
  if (headers.origin !== undefined && hostName(headers.origin.replace(/^\w+:\/\//, '')) !== name)
    return { status: 403, message: 'another origin asked' };
  if (method === 'POST' && !/^application\/json\b/i.test(headers['content-type'] ?? ''))
    return { status: 415, message: 'send the body as content-type application/json' };
  return undefined;
}

function hostName(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
}

function isLoopback(name: string): boolean {
  return name === '::1' || name === 'localhost' || name.endsWith('.localhost') || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/**
 * Undefined if it is too long. The rest is read and discarded, so that the client gets the refusal.
 */
export async function readBody(request: http.IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else if (size > 4 * maxBytes) throw new Error('the request is too long');
  }
  return size > maxBytes ? undefined : Buffer.concat(chunks).toString('utf8');
}

export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(`${JSON.stringify(body)}\n`);
}
