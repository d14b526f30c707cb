/** An HTTP server for tests that sends exactly the bytes it is given, at the given pace. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RawServer {
  url: string;
  requests: { url: string; headers: http.IncomingHttpHeaders; body: any }[];
  connections: () => number;
  close(): Promise<void>;
}

export async function rawServer(
  reply: (response: http.ServerResponse, body: any) => void | Promise<void>,
): Promise<RawServer> {
  const requests: RawServer['requests'] = [];
  let connections = 0;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || 'null');
      requests.push({ url: request.url!, headers: request.headers, body });
      void reply(response, body);
    });
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sse(response: http.ServerResponse): http.ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}
