/**
 * A server that speaks the part of Slack's protocol its packages use: the Web API over HTTP, and
 * Socket Mode over a WebSocket with envelopes that must be acknowledged.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

export interface SlackServer {
  /** For SLACK_API_URL. */
  url: string;
  /** Every call of the Web API: its method, token and arguments. */
  calls: { method: string; token: string; args: Record<string, string> }[];
  /** Seconds after which a refused message may be tried again, one for each refusal. */
  limits: number[];
  /** Envelope ids that were acknowledged. */
  acks: string[];
  /** Resolves after the `n`th Socket Mode connection. */
  connected(n?: number): Promise<void>;
  /** Sends an event in an envelope; resolves when it is acknowledged. */
  event(event: Record<string, unknown>, envelope?: string): Promise<void>;
  /** Asks the client to reconnect, as Slack does when it moves a connection. */
  refresh(): void;
  /** Overrides the default answer of a method. */
  answers: Map<string, Record<string, unknown>>;
  /** Files below `/files/`, by name. */
  files: Map<string, string>;
  close(): Promise<void>;
}

interface Socket {
  send(text: string): void;
  on(name: 'message', take: (data: Buffer) => void): void;
  on(name: 'close', take: () => void): void;
  terminate(): void;
}

export async function slackServer(): Promise<SlackServer> {
  const ws = 'ws';
  const { WebSocketServer } = (await import(ws)) as {
    WebSocketServer: new (options: { noServer: true }) => {
      handleUpgrade(request: unknown, socket: Duplex, head: Buffer, done: (socket: Socket) => void): void;
    };
  };
  const calls: SlackServer['calls'] = [];
  const acks: string[] = [];
  const limits: number[] = [];
  const answers: SlackServer['answers'] = new Map();
  const files: SlackServer['files'] = new Map();
  const sockets = new Set<Socket>();
  const waiting = new Map<string, () => void>();
  let joined = 0;
  let posted = 0;
  const joinListeners: (() => void)[] = [];
  const sockServer = new WebSocketServer({ noServer: true });

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const method = new URL(request.url!, 'http://x').pathname.replace('/api/', '');
      const args = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8')));
      const token = request.headers.authorization?.replace('Bearer ', '') ?? args['token'] ?? '';
      calls.push({ method, token, args });
      if (method.startsWith('/files/')) {
        response.end(files.get(method.slice('/files/'.length)) ?? 'no such file');
        return;
      }
      response.setHeader('content-type', 'application/json');
      const limit = limits.shift();
      if (limit !== undefined && method === 'chat.postMessage') {
        response.writeHead(429, { 'retry-after': String(limit) });
        response.end(JSON.stringify({ ok: false, error: 'ratelimited' }));
        return;
      }
      response.end(JSON.stringify(answers.get(method) ?? defaultAnswer(method, args)));
    });
  });
  server.on('upgrade', (request, socket: Duplex, head) => {
    sockServer.handleUpgrade(request, socket, head, (peer) => {
      sockets.add(peer);
      peer.on('close', () => sockets.delete(peer));
      peer.on('message', (data) => {
        const { envelope_id: id } = JSON.parse(data.toString('utf8')) as { envelope_id: string };
        acks.push(id);
        waiting.get(id)?.();
      });
      peer.send(JSON.stringify({ type: 'hello', num_connections: 1 }));
      joined++;
      for (const resolve of joinListeners.splice(0)) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  function defaultAnswer(method: string, args: Record<string, string>): Record<string, unknown> {
    if (method === 'apps.connections.open') return { ok: true, url: `ws://127.0.0.1:${port}/socket` };
    if (method === 'chat.postMessage')
      return { ok: true, channel: args['channel'], ts: `1700000000.000${100 + posted++}`, message: {} };
    if (method === 'auth.test') return { ok: true, user_id: 'UBOT00000' };
    if (method === 'users.info') return { ok: true, user: { name: 'sarah', profile: { display_name: 'sarah' } } };
    if (method === 'conversations.info') return { ok: true, channel: { name: 'ops' } };
    return { ok: false, error: 'unknown_method' };
  }

  return {
    url: `http://127.0.0.1:${port}/api/`,
    calls,
    acks,
    limits,
    answers,
    files,
    async connected(n = 1) {
      const hasJoined = (): boolean => joined >= n;
      while (!hasJoined()) await new Promise<void>((resolve) => joinListeners.push(resolve));
    },
    async event(event, envelope = `env-${Math.random().toString(36).slice(2)}`) {
      const acked = new Promise<void>((resolve) => waiting.set(envelope, resolve));
      const message = { envelope_id: envelope, type: 'events_api', payload: { type: 'event_callback', event } };
      for (const socket of sockets) socket.send(JSON.stringify(message));
      await acked;
    },
    refresh() {
      for (const socket of sockets) socket.send(JSON.stringify({ type: 'disconnect', reason: 'refresh_requested' }));
    },
    async close() {
      for (const socket of sockets) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
