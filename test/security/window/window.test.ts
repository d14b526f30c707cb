/**
 * The window under attack, one test for each threat that its design names. The threats in
 * guard.test and intents.test of test/web are not repeated here.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Hono } from 'hono';
import type { HistoryPage, Requests, TurnsChanged, UndoPreview } from '../../../src/web/base/contract.js';
import { openFeed } from '../../../src/web/base/feed.js';
import type { Live } from '../../../src/web/base/live.js';
import { streams } from '../../../src/web/stream.js';
import { place, ROOT, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';
import { openBrowser, showPage } from '../../kit/web/browser.js';
import { askingPlace, openWindow, SCRIPTED, type Window } from '../../kit/web/window.js';

const EMPTY = { 'guild.yaml': SCRIPTED, 'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n' };

test('anybody on the network: the port is open on this machine only', async (t) => {
  const { server } = await openWindow(t, place(t, EMPTY));
  const others = Object.values(os.networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of others) assert.equal(await reaches(address, server.port), false, address);
  assert.equal(await reaches('127.0.0.1', server.port), true);
});

function reaches(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: 60_000 });
    const end = (is: boolean): void => (socket.destroy(), resolve(is));
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false));
  });
}

test('a token leaks nowhere: it is gone from the address, and no request names it', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server } = await openWindow(t, place(t, EMPTY));
  const link = server.link();
  const token = new URL(link).hash.slice('#t='.length);
  const page = await (await browser.newContext()).newPage();
  const seen: string[] = [];
  page.on('request', (request) => seen.push(request.url(), request.headers()['referer'] ?? ''));
  await page.goto(link);
  await page.waitForSelector('.app');
  assert.equal(page.url().includes(token), false);
  assert.deepEqual(
    seen.filter((text) => text.includes(token)),
    [],
  );
  await page.goBack().catch(() => null);
  assert.equal(page.url().includes(token), false, 'the history has no token');
});

test('the cookie goes to no other server of this machine', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const { server } = await openWindow(t, place(t, EMPTY));
  const { page } = await showPage(browser, server.link());
  const cookies: string[] = [];
  const other = http.createServer((request, reply) => {
    cookies.push(request.headers.cookie ?? '');
    reply.end('<p>hello</p>');
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  t.after(() => other.close());
  const { port } = other.address() as net.AddressInfo;
  for (const host of ['127.0.0.1', 'localhost', 'g-00000000.localhost'])
    await page.goto(`http://${host}:${port}/`).catch(() => null);
  assert.ok(cookies.length > 0);
  assert.deepEqual([...new Set(cookies)], ['']);
});

test('another page of the same browser can neither read nor write, with or without the cookie', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const window = await openWindow(t, await askingPlace(t));
  const { page } = await showPage(browser, window.server.link());
  const evil = http.createServer((_, reply) => reply.setHeader('content-type', 'text/html').end('<p>evil</p>'));
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
  t.after(() => evil.close());
  const other = await page.context().newPage();
  await other.goto(`http://127.0.0.1:${(evil.address() as net.AddressInfo).port}/`);
  const outcome = await other.evaluate<string[]>(`(async () => {
    const target = 'http://${window.host}';
    const ask = (path, init) => fetch(target + path, { credentials: 'include', ...init }).then((r) => 'read ' + r.status, () => 'refused');
    const form = { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: '{"kind":"task.add"}' };
    await ask('/api/intents', form);
    return [await ask('/api/hall'), await ask('/'), await ask('/api/intents', { method: 'POST', body: '{}' })];
  })()`);
  assert.deepEqual(outcome, ['refused', 'refused', 'refused']);
  assert.deepEqual(window.workspace.list('.guild/intents'), []);
  const framed = await other.evaluate<boolean>(`new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.src = 'http://${window.host}/';
    frame.onload = () => { try { resolve(frame.contentDocument !== null) } catch { resolve(false) } };
    frame.onerror = () => resolve(false);
    document.body.append(frame);
  })`);
  assert.equal(framed, false, 'it cannot be framed');
});

test('GET never writes: no route changes a file', async (t) => {
  const workspace = await askingPlace(t);
  const window = await openWindow(t, workspace);
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  const before = filesOf(workspace);
  const routes = ['hello', 'hall', 'requests', 'tasks', 'board', `tasks/${task}`, `tasks/${task}/why`, 'sessions'];
  const more = [
    `sessions/${session}`,
    'agents',
    'agents/boss',
    'waits',
    'costs',
    'boards',
    'notes',
    'history',
    'turns',
  ];
  for (const route of [
    ...routes,
    ...more,
    'machines',
    `replay/${task}`,
    'schemas/agent',
    `hall?at=${new Date().toISOString()}`,
  ])
    assert.equal((await window.get(`/api/${route}`)).status, 200, route);
  for (const kind of ['task.add', 'request.approve', 'history.undo'])
    assert.equal((await window.get(`/api/intents?kind=${kind}&key=12345678&target=x`)).status, 404);
  assert.deepEqual(filesOf(workspace), before);
});

/** Every file that belongs to a person or an agent; caches of readers may come and go. */
function filesOf({ root }: Place): Record<string, string> {
  const names = fs.readdirSync(root, { recursive: true, encoding: 'utf8' });
  const owned = names.filter((name) => !name.startsWith('.guild') || name.startsWith('.guild/intents'));
  return Object.fromEntries(
    owned
      .filter((name) => fs.statSync(path.join(root, name)).isFile())
      .map((name) => [name, fs.readFileSync(path.join(root, name), 'utf8')]),
  );
}

test('the policy of the page is the strict one, and an injected script does not run', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const window = await openWindow(t, place(t, EMPTY));
  const { headers } = await window.raw('/');
  const policy = String(headers['content-security-policy']).replace(/'nonce-[\w-]+'/, "'nonce-…'");
  assert.equal(
    policy,
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-…'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types guild",
  );
  const names = [
    'x-content-type-options',
    'referrer-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
  ];
  assert.deepEqual(
    names.map((name) => headers[name]),
    ['nosniff', 'no-referrer', 'same-origin', 'same-origin'],
  );
  assert.equal((await window.get('/api/hall')).headers['cache-control'], 'no-store');
  const { page } = await showPage(browser, window.server.link());
  const outcome = await page.evaluate<string>(`(() => {
    const tries = {
      inline: () => { const s = document.createElement('script'); s.text = 'window.hacked = 1'; document.head.append(s); },
      html: () => { document.body.innerHTML = '<img src=x onerror="window.hacked=2">'; },
      worker: () => { new Worker('/assets/other.js'); },
      policy: () => { trustedTypes.createPolicy('mine', { createScriptURL: (url) => url }); },
    };
    const passed = Object.entries(tries).filter(([, attempt]) => { try { attempt(); return true; } catch { return false; } });
    return JSON.stringify([passed.map(([name]) => name), window.hacked ?? null]);
  })()`);
  assert.equal(outcome, '[[],null]');
});

test('no source of the page makes markup from text', () => {
  const bad = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|srcdoc|\beval\(/;
  const files = fs.readdirSync(path.join(ROOT, 'web'), { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((name) => /\.tsx?$/.test(name))
    .filter((name) => bad.test(fs.readFileSync(path.join(ROOT, 'web', name), 'utf8')));
  assert.deepEqual(found, []);
});

const INVISIBLE = 'safe\u202Egnp.exe\u200Bzero\u0007bell\u2066iso';
const LINKS =
  '[open](javascript:alert(1)) [doc](https://docs.example/a?b#c) <https://auto.example> ![pixel](https://img.example/p.png) [data](data:text/html,x)';

async function talkative(t: TestContext): Promise<Place> {
  const say = JSON.stringify(`${LINKS} ${INVISIBLE} <button>Approve</button>`);
  const workspace = place(t, {
    'guild.yaml': SCRIPTED,
    'agents/boss.md': '---\ndescription: Does it\ntools: [execute_command]\n---\nYou are the boss.\n',
    'script.yaml': `- turn: 1\n  say: ${say}\n  call:\n    - execute_command: {command: ${JSON.stringify(`echo ${INVISIBLE}`)}}\n`,
  });
  await workspace.guild('run', 'boss', `Begin ${INVISIBLE}`);
  return workspace;
}

test('links open only after a click on their host, images are never fetched, nothing is invisible', async (t) => {
  const browser = await openBrowser(t);
  if (browser === undefined) return;
  const workspace = await talkative(t);
  const session = workspace.list('sessions')[0]!.replace('.session.yaml', '');
  const task = workspace.list('tasks/waiting')[0]!.replace('.json', '');
  const { server, host } = await openWindow(t, workspace);
  const { page } = await showPage(browser, server.link());
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).host));
  for (const name of [`conversation/${session}`, `task/${task}`, 'inbox', 'hall', 'tasks', 'conversations', 'waits']) {
    await page.goto(`http://${host}/#/${name}`);
    await page.waitForSelector(':is(h1, h2):visible');
    await page.waitForSelector('.still', { state: 'detached' });
    const text = await page.evaluate<string>('document.title + document.body.innerText');
    assert.doesNotMatch(text, /[\u202A-\u202E\u2066-\u2069\u200B-\u200F\u0007]/, name);
    const hosts = await page.evaluate<string[]>(
      `[...document.querySelectorAll('a[href]')].filter((a) => a.host !== location.host).map((a) => a.protocol + ' ' + a.rel)`,
    );
    assert.ok(
      hosts.every((each) => /^https?: noopener noreferrer$/.test(each)),
      `${name}: ${hosts.join()}`,
    );
    assert.equal(await page.locator('img, iframe, object, embed').count(), 0, name);
    assert.equal(await page.locator('.msg button:text-is("Approve")').count(), 0, 'an agent draws no button');
  }
  assert.deepEqual([...new Set(asked)], [host]);
});

test('names of agents cannot look like others', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  const text = '---\ndescription: x\n---\nYou.\n';
  for (const name of ['bo\u202Ess', 'boss\u200B', '../boss', 'human', 'engine', 'bоss'])
    assert.ok((await window.send('agent.write', name, { text })).status >= 400, JSON.stringify(name));
  const files = window.workspace.list('agents').filter((name) => name.endsWith('.md'));
  assert.deepEqual(files, ['boss.md']);
});

test('a page that asks without end gets 429', async (t) => {
  const window = await openWindow(t, place(t, EMPTY));
  // However slow this machine is, all requests come within one second.
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
  const ask = async (): Promise<number> => (await window.get('/api/turns')).status;
  const first = await Promise.all(Array.from({ length: 250 }, ask));
  assert.ok(first.includes(429) && first.includes(200), first.join(' '));
  t.mock.timers.tick(1000);
  assert.equal(await ask(), 200, 'the next second is another one');
});

test('a read-only window leaves out secrets and text from outside', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}inbox: { agent: boss }\n`,
    '.env': 'SERVICE_TOKEN=hunter2-hunter2\n',
    'agents/boss.md': '---\ndescription: Does it\ntools: [read_file, execute_command]\n---\nYou are the boss.\n',
    'notes.md': 'Text of a file.\n',
    'script.yaml':
      '- turn: 1\n  say: The token is hunter2-hunter2\n  call:\n    - read_file: {path: notes.md}\n- turn: 2\n  call:\n    - execute_command: {command: touch a.txt}\n',
  });
  await workspace.guild('mail', 'add', 'Very private words of Eve', '--from', 'eve', '--channel', 'slack');
  await workspace.guild('pump', '--all');
  const shown = await openWindow(t, workspace, { readOnly: true });
  const own = await openWindow(t, workspace);
  const [request] = (await own.get('/api/requests')).json<Requests>().open;
  const session = request!.session!;
  const at = new Date().toISOString();
  const task = request!.task!.id;
  const routes = [`sessions/${session}`, `requests/${request!.id}`, 'sessions', 'hall', 'requests', 'tasks', 'board'];
  const more = [
    'tasks?order=tree',
    'agents',
    'waits',
    'costs?by=task',
    'history',
    'machines',
    'bids',
    'notes',
    'boards',
  ];
  const ofTask = [`tasks/${task}`, `tasks/${task}/why`, `replay/${task}`, `hall?at=${at}`, `tasks/${task}?at=${at}`];
  const all = async (window: typeof own): Promise<string> => {
    const replies = await Promise.all([...routes, ...more, ...ofTask].map((route) => window.get(`/api/${route}`)));
    assert.deepEqual(
      replies.filter(({ status }) => status !== 200).map(({ text }) => text),
      [],
    );
    return replies.map(({ text }) => text).join('\n');
  };
  assert.match(await all(own), /Very private words/);
  const text = await all(shown);
  assert.doesNotMatch(text, /hunter2/);
  assert.doesNotMatch(text, /Very private words/);
  assert.doesNotMatch(text, /Text of a file/);
  assert.equal((await shown.get(`/api/sessions/${session}/prompt`)).status, 404, 'the prompt has everything');
  for (const guess of ["description LIKE '%private%'", "result = 'x'", 'context.taint IS NULL', "id = 'a'"]) {
    const reply = await shown.get(`/api/tasks?where=${encodeURIComponent(guess)}`);
    assert.equal(reply.status, 422, guess);
    assert.match(reply.text, /this window is read-only/);
    assert.equal((await shown.post('/api/views', { where: guess })).status, 422, `${guess} in a view`);
  }
  const { view } = (await shown.post('/api/views', {})).json<{ view: string }>();
  const rows = (await shown.get(`/api/views/${view}`)).text;
  assert.match(rows, /text from outside, not shown/);
  assert.doesNotMatch(rows, /Very private words|hunter2/);
  assert.equal((await shown.raw('/api/views', { method: 'POST', headers: { cookie: shown.cookie } })).status, 403);
  const open = encodeURIComponent("state IN ('pending', 'waiting') ORDER BY created_at DESC");
  assert.equal((await shown.get(`/api/tasks?where=${open}`)).status, 200);
  const { files } = (await shown.get(`/api/history/${await newest(shown)}/undo`)).json<UndoPreview>();
  assert.ok(files.every(({ lines }) => lines === undefined));
});

async function newest(window: Window): Promise<string> {
  const { commits } = (await window.get('/api/history')).json<HistoryPage>();
  return commits.at(-1)!.id;
}

test('a reader that does not read is disconnected, and no more than a megabyte is kept for it', async (t) => {
  const { root } = place(t, EMPTY);
  const feed = await openFeed(root, {});
  t.after(() => feed.close());
  const hearers = new Set<(changed: TurnsChanged) => void>();
  const live: Live = {
    turns: () => [],
    onChange: (hear) => (hearers.add(hear), () => hearers.delete(hear)),
    close: () => undefined,
  };
  const reply = await new Hono().get('/stream', streams(feed, live)).request('/stream');
  const words = 'x'.repeat(100_000);
  const turn = { task: 't', agent: 'a', since: '', words, isCut: false, tokens: 0, microUsd: 0 };
  await until(() => hearers.size === 1);
  for (let n = 0; n < 5; n++) for (const hear of [...hearers]) hear({ turns: [turn], ended: [] });
  assert.equal(hearers.size, 1, 'half a megabyte may wait');
  for (let n = 0; n < 40; n++) for (const hear of [...hearers]) hear({ turns: [turn], ended: [] });
  let bytes = 0;
  for await (const part of reply.body!) bytes += part.length;
  assert.ok(bytes < 1_200_000, `${bytes} bytes of more than four million were kept`);
  assert.equal(hearers.size, 0);
});

test('no view of a read-only window has them, now or at a moment of the past', async (t) => {
  const workspace = place(t, {
    'guild.yaml': `${SCRIPTED}inbox: { agent: boss }\n`,
    '.env': 'SERVICE_TOKEN=hunter2-hunter2\n',
    'agents/boss.md': '---\ndescription: Does it\ntools: [execute_command]\n---\nYou are the boss.\n',
    'script.yaml':
      '- turn: 1\n  say: The token is hunter2-hunter2\n  call: [{execute_command: {command: touch a.txt}}]\n',
  });
  await workspace.guild('mail', 'add', 'Very private words of Eve', '--from', 'eve', '--channel', 'slack');
  await workspace.guild('pump', '--all');
  const moments = ['', new Date().toISOString()];
  const shown = await openWindow(t, workspace, { readOnly: true });
  const own = await openWindow(t, workspace);
  const [request] = (await own.get('/api/requests')).json<Requests>().open;
  const { id, session } = request!;
  const task = session!.replace('boss-', '');
  const views = ['hall', 'requests', `requests/${id}`, 'tasks', 'board', `tasks/${task}`, `tasks/${task}/why`];
  views.push(`tasks/${task}/spans`, 'sessions', `sessions/${session}`, `sessions/${session}/prompt`, 'waits', 'costs');
  views.push(`replay/${task}`, 'boards', 'notes', 'history', 'agents', 'agents/boss', 'machines');
  let found = 0;
  const leaks: string[] = [];
  for (const view of views)
    for (const at of moments) {
      const address = `/api/${view}${at === '' ? '' : `?at=${at}`}`;
      if (/Very private words|hunter2/.test((await own.get(address)).text)) found++;
      if (/Very private words|hunter2/.test((await shown.get(address)).text)) leaks.push(address);
    }
  assert.deepEqual(leaks, []);
  assert.ok(found >= 6, 'the owner sees them');
});
