/**
 * The only way out of the sandbox: an HTTP proxy in this process that connects to the hosts a human
 * approved. It resolves names itself and connects to the address that it checked, so a name cannot
 * mean another place a moment later. Programs that do not use the proxy have no network.
 */
import dns from 'node:dns/promises';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { hostOf, isLocalAddress, namesHost } from '../../rules/policy/hosts.js';
import { PROXY_FOLDER, type Reach } from './bubblewrap.js';
import { readHello } from './tls-hello.js';

interface Proxy {
  reach: NonNullable<Reach['proxy']>;
  /** Makes programs use the proxy. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** The port of the helper, in the sandbox's network namespace. */
const HELPER_PORT = 3128;
const CONNECT_MS = 30_000;

/** `isShared`: the sandbox shares our network, so it uses our port and needs no helper. */
export async function startProxy(hosts: readonly string[], isShared: boolean): Promise<Proxy> {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'guild-proxy-'));
  const sockets = new Set<Duplex>();
  const server = http.createServer((request, response) => void forward(hosts, request, response));
  server.on('connection', (socket) => track(sockets, socket));
  server.on('connect', (request, socket: Duplex, head: Buffer) => void tunnel(hosts, request, socket, head, sockets));
  fs.copyFileSync(fileURLToPath(new URL('./forward.js', import.meta.url)), path.join(folder, 'forward.mjs'));
  const port = await listen(server, isShared ? undefined : path.join(folder, 'socket'));
  const helper = [fs.realpathSync(process.execPath), `${PROXY_FOLDER}/forward.mjs`, `${PROXY_FOLDER}/socket`];
  return {
    reach: isShared ? { folder, helper: [], port } : { folder, helper: [...helper, String(HELPER_PORT), '--'] },
    env: proxyEnv(`http://127.0.0.1:${port ?? HELPER_PORT}`),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listen(server: http.Server, socket: string | undefined): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const ready = (): void => resolve(socket === undefined ? (server.address() as net.AddressInfo).port : undefined);
    if (socket === undefined) server.listen(0, '127.0.0.1', ready);
    else server.listen(socket, ready);
  });
}

function proxyEnv(url: string): Record<string, string> {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
  return {
    ...Object.fromEntries(names.map((name) => [name, url])),
    ...{ NO_PROXY: '', no_proxy: '', npm_config_proxy: url, npm_config_https_proxy: url, NODE_USE_ENV_PROXY: '1' },
  };
}

async function forward(
  hosts: readonly string[],
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const refuse = (why: string): void => void response.writeHead(403, { 'content-type': 'text/plain' }).end(`${why}\n`);
  const url = URL.canParse(request.url ?? '') ? new URL(request.url!) : undefined;
  if (url?.protocol !== 'http:') return refuse("guild's proxy accepts only requests with an absolute http address");
  const target = await resolve(hosts, url.hostname, Number(url.port || 80));
  if ('why' in target) return refuse(target.why);
  relay(target, url.host, url.pathname + url.search, request, response);
}

/** Many sites share an address; the `Host` header decides which of them answers. */
function relay(
  { address, port }: Target,
  host: string,
  path: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): void {
  const { 'proxy-connection': _, ...others } = request.headers;
  const headers = { ...others, host };
  const outgoing = http.request({ host: address, port, method: request.method, path, headers }, (incoming) => {
    response.writeHead(incoming.statusCode ?? 502, incoming.headers);
    incoming.pipe(response);
  });
  outgoing.setTimeout(CONNECT_MS, () => outgoing.destroy(new Error('timed out')));
  outgoing.on('error', (error) => {
    if (!response.headersSent) response.writeHead(502, { 'content-type': 'text/plain' });
    response.end(`${error.message}\n`);
  });
  request.pipe(outgoing);
}

async function tunnel(
  hosts: readonly string[],
  request: http.IncomingMessage,
  socket: Duplex,
  head: Buffer,
  sockets: Set<Duplex>,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  const named = hostOf(request.url ?? '');
  const target =
    named?.port === undefined
      ? { why: 'CONNECT needs a host and a port' }
      : await resolve(hosts, named.name, named.port);
  if ('why' in target) {
    socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n${target.why}\n`);
    return;
  }
  if (head.length > 0) socket.unshift(head);
  if (target.port === 80) {
    socket.write(ESTABLISHED);
    plainHttp(target, named!.name).emit('connection', socket);
    return;
  }
  const outgoing = net.connect({ host: target.address, port: target.port }, () => {
    socket.write(ESTABLISHED);
    outgoing.pipe(socket);
    passOn(hosts, target, socket, outgoing);
  });
  track(sockets, outgoing);
  outgoing.on('error', () => socket.destroy());
  outgoing.on('close', () => socket.destroy());
  socket.on('close', () => outgoing.destroy());
}

/** Each request inside of a connection could name another site. */
function plainHttp(target: Target, name: string): http.Server {
  const host = net.isIPv6(name) ? `[${name}]` : name;
  return http.createServer((request, response) => {
    const { url = '/' } = request;
    if (url.startsWith('/')) relay(target, host, url, request, response);
    else response.writeHead(400).end();
  });
}

const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
/** The alert `unrecognized_name`, after which the other side ends the connection. */
const WRONG_NAME = Buffer.from([0x15, 3, 1, 0, 2, 2, 112]);

/** Sends nothing of an encrypted connection on before it has named an approved site. */
function passOn(hosts: readonly string[], target: Target, socket: Duplex, outgoing: net.Socket): void {
  let first = Buffer.alloc(0);
  const look = (part: Buffer): void => {
    first = Buffer.concat([first, part]);
    const hello = readHello(first);
    if (hello === 'partial') return;
    socket.off('data', look);
    if (!mayPass(hosts, target, hello)) {
      outgoing.unpipe(socket);
      socket.end(WRONG_NAME, () => outgoing.destroy());
      return;
    }
    outgoing.write(first);
    socket.pipe(outgoing);
  };
  socket.on('data', look);
  socket.once('end', () => outgoing.end());
}

function mayPass(
  hosts: readonly string[],
  { port, isAddress, isPortNamed }: Target,
  hello: Exclude<ReturnType<typeof readHello>, 'partial'>,
): boolean {
  if (hello === 'other') return isPortNamed;
  const { name } = hello;
  return name === undefined ? isAddress : hosts.some((host) => namesHost(host, name, port));
}

interface Target {
  address: string;
  port: number;
  /** An address was approved, so no site needs to be named. */
  isAddress: boolean;
  /** The person has approved the port, which may be that of any protocol. */
  isPortNamed: boolean;
}

/** The address to connect to, or why there is none. */
async function resolve(hosts: readonly string[], name: string, port: number): Promise<Target | { why: string }> {
  const bare = name.replace(/^\[|\]$/g, '').toLowerCase();
  const entries = hosts.filter((host) => namesHost(host, bare, port));
  if (entries.length === 0) return { why: `${bare}:${port} is not among the approved hosts (${hosts.join(', ')})` };
  try {
    const addresses = net.isIP(bare) ? [bare] : (await dns.lookup(bare, { all: true })).map(({ address }) => address);
    const isAddress = net.isIP(bare) !== 0;
    const isNamed = isAddress || bare === 'localhost';
    const address = addresses.find((candidate) => isNamed || !isLocalAddress(candidate));
    if (address === undefined)
      return { why: `${bare} leads to an address of this machine or its local link, which was not approved` };
    const isPortNamed = entries.some((entry) => hostOf(entry)?.port !== undefined);
    return { address, port, isAddress, isPortNamed };
  } catch (error) {
    return { why: `${bare} cannot be resolved: ${(error as Error).message}` };
  }
}

function track(sockets: Set<Duplex>, socket: Duplex): void {
  sockets.add(socket);
  socket.on('error', () => socket.destroy());
  socket.once('close', () => sockets.delete(socket));
}
