/** Intents under attack: names that lead elsewhere, another origin, and the same key again. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { INTENT_KINDS, type Requests } from '../../../src/web/base/contract.js';
import { askingPlace, openWindow } from '../../kit/web/window.js';

/** Every file next to and in the workspace, with its text. The log and caches are not compared. */
function contents(root: string): Map<string, string> {
  const files = fs.readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => path.join(parentPath, name));
  const kept = names.filter((name) => !/\.guild\/(?:cache|peers|presence|index)|\/events\//.test(name));
  return new Map(kept.map((name) => [name, fs.readFileSync(name, 'utf8')]));
}

const TARGETS = [
  '../outside',
  '../../outside.md',
  'agents/../../outside',
  '/etc/passwd',
  '.env',
  '.guild/intents/x',
  'storage/terminal-cmd-allowlist.yaml',
  '..',
  '',
  'a\0b',
  '-x',
];

test('no intent takes a path as a name: nothing changes, whatever its kind', async (t) => {
  const home = await askingPlace(t);
  home.put('.env', 'KEY=some-secret');
  home.put('storage/terminal-cmd-allowlist.yaml', 'ls: true\n');
  const window = await openWindow(t, home);
  const args = { text: 'x', description: 'x', to: '../x', line: 1, box: 'x', n: 1, at: 1 };
  const before = contents(home.root);
  for (const kind of INTENT_KINDS.filter((each) => each !== 'task.add'))
    for (const target of TARGETS)
      for (const seen of ['x', undefined]) {
        let { status } = await window.send(kind, target, args, seen);
        // The window also limits how often one browser asks.
        while (status === 429) ({ status } = await window.send(kind, target, args, seen));
        assert.ok(status >= 400 && status < 500, `${kind} ${JSON.stringify(target)}: ${status}`);
      }
  assert.deepEqual(contents(home.root), before);
});

test('an answer from another origin, host or without the token is not taken, whatever it names', async (t) => {
  const home = await askingPlace(t);
  const window = await openWindow(t, home);
  const [request] = (await window.get('/api/requests')).json<Requests>().open;
  const intent = { key: 'key-12345678', kind: 'request.approve', target: request!.id, seen: request!.seen };
  const own = {
    cookie: window.cookie,
    'x-guild-csrf': window.hello.csrf,
    'content-type': 'application/json',
  };
  const wrong: Record<string, Record<string, string>> = {
    'another origin': { ...own, origin: 'http://evil.example' },
    'no origin at all': { ...own, origin: 'null' },
    'another site': { ...own, 'sec-fetch-site': 'cross-site' },
    'another host': { ...own, host: 'evil.example' },
    'this machine by number': { ...own, host: `127.0.0.1:${window.server.port}` },
    'no token': { ...own, 'x-guild-csrf': '' },
    'a wrong token': { ...own, 'x-guild-csrf': 'a'.repeat(window.hello.csrf.length) },
    'no cookie': { ...own, cookie: '' },
    'a form': { ...own, 'content-type': 'text/plain' },
  };
  for (const [what, headers] of Object.entries(wrong)) {
    const { status } = await window.raw('/api/intents', { method: 'POST', headers, body: JSON.stringify(intent) });
    assert.ok(status >= 400 && status < 500, `${what}: ${status}`);
    assert.deepEqual(home.list('.guild/intents'), [], what);
  }
});

test('a key that was used does nothing again, also for another request', async (t) => {
  const home = await askingPlace(t);
  const window = await openWindow(t, home);
  const [request] = (await window.get('/api/requests')).json<Requests>().open;
  const first = await window.send('request.reject', request!.id, {}, request!.seen, 'key-used-once');
  assert.equal(first.status, 202);
  const intents = home.list('.guild/intents');
  for (const kind of ['request.approve', 'task.add', 'history.undo'])
    assert.equal(
      (await window.send(kind, request!.id, { description: 'x' }, request!.seen, 'key-used-once')).status,
      202,
    );
  assert.deepEqual(home.list('.guild/intents'), intents, 'the first act was the only one');
  assert.equal((await window.send('request.approve', request!.id, {}, request!.seen)).status, 409, 'it is answered');
});
