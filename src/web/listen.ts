/**
 * Where the server listens and under which names it answers. By default it listens on this machine
 * only. Any other address needs TLS, or a named proxy that provides it.
 */
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { problem, ProblemError } from '../domain/problem.js';

export interface Listening {
  /** The address to listen on. Absent: both loopback addresses. */
  host?: string;
  tls?: { cert: string; key: string };
  /** The name under which a proxy with TLS passes requests on. */
  proxy?: string;
}

export interface Bound {
  port: number;
  scheme: 'http' | 'https';
  /** `host` or `host:port` as browsers send it; the first one is in the address. */
  hosts: string[];
  close(): Promise<void>;
}

const LOOPBACK = ['127.0.0.1', '::1'];

/** Throws a ProblemError for a combination that would be open to others without protection. */
export function checkListening({ host, tls, proxy }: Listening): void {
  if (host === undefined || LOOPBACK.includes(host)) return;
  if (tls !== undefined || proxy !== undefined) return;
  throw new ProblemError(
    problem('not_allowed', `without TLS, ${host} would send everything in the clear to whoever listens`, {
      hint: 'add --tls-cert and --tls-key, or --behind-proxy with the name that the proxy serves',
    }),
  );
}

export async function listen(app: Hono, options: Listening, port: number, ownName: string): Promise<Bound> {
  checkListening(options);
  const tls = options.tls === undefined ? undefined : readTls(options.tls);
  const addresses = options.host === undefined ? LOOPBACK : [options.host];
  const first = await bind(app, addresses[0]!, port, tls);
  const servers = [first.server];
  for (const address of addresses.slice(1)) {
    // A machine without IPv6 has no second loopback address.
    const more = await bind(app, address, first.port, tls).catch(() => undefined);
    if (more !== undefined) servers.push(more.server);
  }
  const isEncrypted = tls !== undefined || options.proxy !== undefined;
  return {
    port: first.port,
    scheme: isEncrypted ? 'https' : 'http',
    hosts: hostsOf(options, tls?.names, first.port, ownName),
    async close() {
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise<void>((resolve) => server.close(() => resolve()));
      }
    },
  };
}

function hostsOf(
  { host, proxy }: Listening,
  names: readonly string[] | undefined,
  port: number,
  ownName: string,
): string[] {
  if (proxy !== undefined) return [proxy];
  const withPort = (name: string): string => `${name.includes(':') ? `[${name}]` : name}:${port}`;
  if (names !== undefined) return names.map(withPort);
  if (host !== undefined && host !== ownName) return [withPort(ownName), withPort(host)];
  return [withPort(ownName)];
}

interface Tls {
  cert: Buffer;
  key: Buffer;
  names: string[];
}

/** The server answers to the names in the certificate. */
function readTls({ cert, key }: { cert: string; key: string }): Tls {
  const read = (file: string, option: string): Buffer => {
    try {
      return fs.readFileSync(file);
    } catch (thrown) {
      throw new ProblemError(problem('bad_usage', `${option}: ${(thrown as Error).message}`));
    }
  };
  const bytes = read(cert, '--tls-cert');
  let names: string[];
  try {
    names = namesIn(new X509Certificate(bytes));
  } catch {
    throw new ProblemError(problem('bad_usage', `--tls-cert: ${cert} is not a certificate`));
  }
  if (names.length === 0)
    throw new ProblemError(
      problem('bad_usage', `--tls-cert: ${cert} names no host`, {
        hint: 'make one with a subject alternative name, such as DNS:guild.example.org',
      }),
    );
  return { cert: bytes, key: read(key, '--tls-key'), names };
}

function namesIn({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):([\w.:-]+)$/.exec(entry)?.[1] ?? [])
    .filter((name) => !name.includes('*'));
}

function bind(app: Hono, hostname: string, port: number, tls: Tls | undefined) {
  return new Promise<{ server: http.Server; port: number }>((resolve, reject) => {
    const secure =
      tls === undefined ? {} : { createServer: https.createServer, serverOptions: { cert: tls.cert, key: tls.key } };
    const server = serve({ fetch: app.fetch, port, hostname, ...secure }, (info) =>
      resolve({ server, port: info.port }),
    ) as http.Server;
    server.once('error', (thrown: NodeJS.ErrnoException) => reject(asProblem(thrown, hostname, port)));
  });
}

function asProblem(thrown: NodeJS.ErrnoException, hostname: string, port: number): Error {
  if (thrown.code === 'EADDRINUSE')
    return new ProblemError(problem('bad_usage', `port ${port} is in use`, { hint: 'choose another with --port' }));
  if (thrown.code === 'EADDRNOTAVAIL' || thrown.code === 'EACCES' || thrown.code === 'ENOTFOUND')
    return new ProblemError(problem('bad_usage', `the server cannot listen on ${hostname}:${port} (${thrown.code})`));
  return thrown;
}
