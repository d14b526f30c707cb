/** Serves the figures of one process to Prometheus, and nothing else. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { problem, ProblemError } from '../domain/problem.js';

interface MetricsServer {
  /** Where it answers, for people. */
  address: string;
  close(): Promise<void>;
}

/** `place`: a port of this machine, or `host:port` for other machines to read. */
export async function serveMetrics(place: string, text: () => Promise<string>): Promise<MetricsServer> {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d{1,5})$/.exec(place) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw new ProblemError(
      problem('bad_usage', `--metrics must be a port or host:port, not ${JSON.stringify(place)}`, {
        hint: 'for example --metrics 9464, or --metrics 0.0.0.0:9464 in a container',
      }),
    );
  const server = http.createServer((request, response) => {
    // A page in a browser can make its own host name resolve to this machine.
    if (isLocal(host) && !isLocal(hostIn(request.headers.host))) {
      response.writeHead(403).end();
      return;
    }
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    text().then(
      (body) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(body),
      () => response.writeHead(503).end(),
    );
  });
  server.listen(Number(port), host.replace(/^\[(.*)\]$/, '$1'));
  await once(server, 'listening').catch((thrown: Error) => {
    throw new ProblemError(
      problem('bad_usage', `cannot listen on ${place}: ${thrown.message}`, { hint: 'name another port' }),
    );
  });
  return {
    address: `http://${host}:${(server.address() as AddressInfo).port}/metrics`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function isLocal(host: string): boolean {
  return ['localhost', '127.0.0.1', '::1', '[::1]'].includes(host.toLowerCase());
}

/** Without the port. */
function hostIn(header = ''): string {
  return header.replace(/:\d+$/, '');
}
