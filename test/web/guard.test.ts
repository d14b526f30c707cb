/** The window answers only to a browser that has entered, on the page's own origin. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { entry, newToken } from '../../src/web/entry.js';
import { place } from '../kit/guild.js';
import { until } from '../kit/until.js';
import { askingPlace, enter, openWindow, SCRIPTED } from '../kit/web/window.js';
import type { Requests } from '../../src/web/base/contract.js';

const EMPTY = { 'guild.yaml': SCRIPTED, 'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n' };

test('another host name is refused before anything is read: DNS rebinding', async (t) => {
  const { raw, host } = await openWindow(t, place(t, EMPTY));
  const port = host.split(':')[1]!;
  for (const name of ['attacker.example', `127.0.0.1:${port}`, `localhost:${port}`, host.replace(/^g-/, 'x-')])
    assert.equal((await raw('/', { headers: { host: name } })).status, 421, name);
});

test('other origins and sites are refused, and no CORS header is ever sent', async (t) => {
  const { raw, get, host } = await openWindow(t, place(t, EMPTY));
  const bad: Record<string, string>[] = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of [...bad, { 'sec-fetch-site': 'same-site' }]) {
    const reply = await get('/api/hall', headers);
    assert.equal(reply.status, 403, JSON.stringify(headers));
    assert.equal(reply.headers['access-control-allow-origin'], undefined);
  }
  assert.equal((await get('/api/hall', { 'sec-fetch-site': 'none' })).status, 403, 'a typed address is no API call');
  assert.equal((await raw('/', { headers: { 'sec-fetch-site': 'none' } })).status, 200);
  assert.equal((await get('/api/hall', { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' })).status, 200);
});

test('every route of the API needs the cookie and the CSRF token', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  const routes = ['hello', 'hall', 'requests', 'tasks', 'tasks/x', 'sessions', 'agents', 'waits', 'costs', 'boards'];
  for (const route of [...routes, 'notes', 'history', 'stream']) {
    assert.equal((await window.raw(`/api/${route}`)).status, 401, route);
    assert.equal((await window.get(`/api/${route}`, { 'x-guild-csrf': '' })).status, 403, route);
    assert.equal((await window.get(`/api/${route}`, { cookie: 'guild_x=1' })).status, 401, route);
  }
  const page = await window.raw('/');
  assert.match(page.text, /id="hello"[^>]*>null</, 'a browser that has not entered gets no data');
});

test('a token opens the window once, and within a minute', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  const token = new URL(window.server.link()).hash.slice(3);
  assert.equal((await enter(window.raw, `${token}x`)).status, 401);
  assert.equal((await enter(window.raw, token)).status, 204);
  assert.equal((await enter(window.raw, token)).status, 401);
  assert.equal((await enter(window.raw, `${token}.x`)).status, 401, 'a used token with something added');
  let now = 1_000_000;
  const key = Buffer.alloc(32, 7);
  const late = entry(key, () => now);
  const old = newToken(key, () => now);
  now += 61_000;
  assert.equal(late.enter(old), undefined);
  assert.equal(late.enter(newToken(Buffer.alloc(32, 8), () => now)), undefined, 'the key of another window');
  const cookie = late.enter(newToken(key, () => now))!;
  const again = entry(key, () => now);
  assert.equal(again.csrf(cookie), late.csrf(cookie), 'a restarted server knows the cookie');
  assert.equal(again.enter(newToken(key, () => now - 1)), undefined, 'a token from before the start may be used');
  now += 8 * 24 * 3_600_000;
  assert.equal(again.csrf(cookie), undefined, 'a cookie ends after a week');
});

test('the cookie cannot be read by script or sent by another site; headers forbid inline code', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  const { headers } = await enter(window.raw, new URL(window.server.link()).hash.slice(3));
  assert.match(headers['set-cookie']![0]!, /HttpOnly/);
  assert.match(headers['set-cookie']![0]!, /SameSite=Strict/);
  const page = await window.raw('/');
  const csp = String(page.headers['content-security-policy']);
  assert.match(csp, /default-src 'none'.*script-src 'self'/);
  assert.doesNotMatch(csp, /unsafe|\*/);
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  assert.doesNotMatch(page.text, /<script(?![^>]*(src=|application\/json))/);
});

test('read-only mode has no write route', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace, { readOnly: true });
  const { open } = (await window.get('/api/requests')).json<Requests>();
  assert.equal((await window.send('request.approve', open[0]!.id, {}, open[0]!.seen)).status, 404);
  assert.deepEqual(workspace.list('.guild/intents'), []);
});

test('a body that is too large, is not JSON, or is of another type is refused', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  // The server answers and closes while the client still sends, so the client may see only that.
  const big = await window.send('task.add', '', { description: 'x'.repeat(2_000_000) }).catch(() => ({ status: 413 }));
  assert.equal(big.status, 413);
  assert.deepEqual(window.workspace.list('tasks/pending'), []);
  const post = async (type: string, body: string): Promise<number> => {
    const headers = { cookie: window.cookie, 'x-guild-csrf': window.hello.csrf, 'content-type': type };
    return (await window.raw('/api/intents', { method: 'POST', headers, body })).status;
  };
  const task = JSON.stringify({ key: 'a-key-of-mine', kind: 'task.add', target: '', args: { description: 'Sent' } });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
    assert.equal(await post(type, task), 415, type);
  assert.equal(await post('application/json', '{"kind":'), 400);
  assert.deepEqual(window.workspace.list('tasks/pending'), []);
  assert.equal(await post('application/json', task), 202, 'only the type was wrong');
  assert.equal((await window.send('no.such', 'x')).status, 422);
});

test('a browser that opens streams without end gets 429, and a closed one makes room', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  const open: http.ClientRequest[] = [];
  t.after(() => open.forEach((request) => request.destroy()));
  const stream = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { host: window.host, cookie: window.cookie, 'x-guild-csrf': window.hello.csrf };
      const { port } = window.server;
      const request = http.get({ agent: false, host: '127.0.0.1', port, path: '/api/stream', headers });
      open.push(request.once('response', ({ statusCode }) => resolve(statusCode!)).on('error', reject));
    });
  const first = await Promise.all(Array.from({ length: 64 }, stream));
  assert.deepEqual([...new Set(first)], [200]);
  assert.equal(await stream(), 429);
  open[0]!.destroy();
  await until(async () => (await stream()) === 200);
});

test('names in requests never become paths', async (t) => {
  const workspace = place(t, { ...EMPTY, 'secret.session.yaml': 'x', '.env': 'KEY=1' });
  const window = await openWindow(t, workspace);
  const names = ['../secret', '..%2Fsecret', '%2e%2e%2fsecret', '..\\secret', '....//secret', '.env'];
  for (const name of names)
    for (const route of ['/api/sessions/', '/api/agents/', '/assets/', '/api/tasks/']) {
      const reply = await window.get(route + name);
      assert.ok(reply.status >= 400, `${route}${name}: ${reply.status}`);
      assert.doesNotMatch(reply.text, /KEY=1/);
    }
});
