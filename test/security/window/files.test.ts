/** Files of a stranger's folder behind the window: pipes do not stop it, and links show nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { place, type Place } from '../../kit/guild.js';
import { openWindow, SCRIPTED } from '../../kit/web/window.js';

const FILES = {
  'guild.yaml': SCRIPTED,
  'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n',
  'tasks/team.task.md': '# Team\n## TODO\n- [ ] Tidy the shed\n',
};
const LIMIT_MS = 60_000;

test('a pipe as a board or a conversation does not stop the window', async (t) => {
  const here = place(t, { ...FILES, 'sessions/.keep': '' });
  for (const file of ['tasks/pipe.task.md', 'sessions/boss-x.session.yaml'])
    execFileSync('mkfifo', ['-m', '600', path.join(here.root, file)]);
  const { host, token } = await spawnedWindow(t, here);
  const entered = await ask(host, '/api/enter', {}, JSON.stringify({ token }));
  const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!;
  const page = await ask(host, '/', { cookie });
  const csrf = /"csrf":"([^"]+)"/.exec(page.text)![1]!;
  for (const route of ['boards', 'sessions', 'hall']) {
    const { status } = await ask(host, `/api/${route}`, { cookie, 'x-guild-csrf': csrf });
    assert.equal(status, 200, route);
  }
});

test('the window does not show a file outside that a board leads to, and shows the other boards', async (t) => {
  const home = place(t, { 'notes.txt': 'the safe code is 4711\n' });
  const here = place(t, FILES);
  fs.symlinkSync(path.join(home.root, 'notes.txt'), path.join(here.root, 'tasks/leak.task.md'));
  for (const readOnly of [false, true]) {
    const { status, text } = await (await openWindow(t, here, { readOnly })).get('/api/boards');
    assert.equal(status, 200, text);
    assert.match(text, /Tidy the shed/);
    assert.doesNotMatch(text, /4711/);
  }
});

/** In a separate process, because a call that blocks would block this one. */
async function spawnedWindow(t: TestContext, here: Place): Promise<{ host: string; token: string }> {
  const window = here.spawn('ui', '--no-work');
  const stop = setTimeout(() => window.child.kill('SIGKILL'), LIMIT_MS);
  t.after(() => clearTimeout(stop));
  const link = new URL(await window.says(/(http:\/\/\S+#t=\S+)/));
  return { host: link.host, token: link.hash.slice('#t='.length) };
}

function ask(
  host: string,
  route: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }> {
  const port = Number(host.split(':')[1]);
  const more = body === undefined ? {} : { 'content-type': 'application/json' };
  const options = {
    agent: false,
    host: '127.0.0.1',
    port,
    path: route,
    headers: { host, ...headers, ...more },
  } as const;
  return new Promise((resolve, reject) => {
    const sent = http.request({ ...options, method: body === undefined ? 'GET' : 'POST' }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (part: string) => (text += part));
      reply.on('end', () => resolve({ status: reply.statusCode!, headers: reply.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
