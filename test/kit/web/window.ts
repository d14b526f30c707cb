/** The window of a workspace: its server in this process, asked over real HTTP. */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { TestContext } from 'node:test';
import { startServer, type WindowServer } from '../../../src/web/server.js';
import type { Hello } from '../../../src/web/base/contract.js';
import { environment, place, type Place } from '../guild.js';

export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
  json<T>(): T;
}

interface Ask {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface Window {
  workspace: Place;
  server: WindowServer;
  host: string;
  hello: Hello;
  cookie: string;
  /** A request with nothing added to it. */
  raw(path: string, ask?: Ask): Promise<Reply>;
  /** Asks as the page does: with cookie and CSRF token. */
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: object): Promise<Reply>;
  send(kind: string, target: string, args?: object, seen?: string, key?: string): Promise<Reply>;
}

export const SCRIPTED = `model: s/x
providers:
  s: { kind: scripted, script: script.yaml }
default_agent: boss
`;

/** A workspace whose agent has asked to run a command. */
export async function askingPlace(t: TestContext, command = 'touch made.txt'): Promise<Place> {
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [execute_command]\n---\nYou are the boss.\n',
    'script.yaml': `- turn: 1\n  call:\n    - execute_command: {command: ${JSON.stringify(command)}}\n- turn: 2\n  say: All done.\n`,
  });
  await workspace.guild('run', 'boss', 'Begin the work');
  return workspace;
}

export async function openWindow(
  t: TestContext,
  workspace: Place,
  options: { readOnly?: boolean; env?: Record<string, string> } = {},
): Promise<Window> {
  const env = environment(workspace.root, options.env);
  const server = await startServer({ root: workspace.root, env, port: 0, readOnly: options.readOnly ?? false });
  t.after(() => server.close());
  const link = new URL(server.link());
  const raw = (path: string, ask: Ask = {}): Promise<Reply> => request(server.port, link.host, path, ask);
  const token = link.hash.slice('#t='.length);
  const entered = await enter(raw, token);
  assert.equal(entered.status, 204);
  const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
  const html = (await raw('/', { headers: { cookie } })).text;
  const hello = JSON.parse(/id="hello"[^>]*>(.*?)<\/script>/s.exec(html)![1]!) as Hello;
  const mine = { cookie, 'x-guild-csrf': hello.csrf };
  const post = (path: string, body: object): Promise<Reply> => {
    const headers = { ...mine, 'content-type': 'application/json' };
    return raw(path, { method: 'POST', headers, body: JSON.stringify(body) });
  };
  return {
    workspace,
    server,
    host: link.host,
    hello,
    cookie,
    raw,
    get: (path, headers = {}) => raw(path, { headers: { ...mine, ...headers } }),
    post,
    send: (kind, target, args = {}, seen, key = `key-${Math.random()}`) =>
      post('/api/intents', { key, kind, target, args, seen }),
  };
}

export function enter(raw: Window['raw'], token: string): Promise<Reply> {
  const headers = { 'content-type': 'application/json' };
  return raw('/api/enter', { method: 'POST', headers, body: JSON.stringify({ token }) });
}

function request(
  port: number,
  host: string,
  path: string,
  { method = 'GET', headers = {}, body }: Ask,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = http.request(
      { agent: false, host: '127.0.0.1', port, path, method, headers: { host, ...headers } },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8').on('data', (part: string) => (text += part));
        reply.on('end', () =>
          resolve({ status: reply.statusCode!, headers: reply.headers, text, json: <T>() => JSON.parse(text) as T }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
