/** Running turns are for their user only, and their text cannot write to a terminal. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { followTurns } from '../../src/app/live/follow-turns.js';
import { place, scripted, type Place } from '../kit/guild.js';
import { pty } from '../kit/pty.js';
import { until } from '../kit/until.js';

const SLOW = '- { agent: boss, wait: 30m, say: late }\n';
const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

async function working(here: Place): Promise<string> {
  here.put('tasks/pending/t1.json', JSON.stringify({ description: 'Talk', to: 'boss' }));
  here.spawn('watch');
  const socket = await until(() => here.list('.guild/live').find((name) => name.endsWith('.sock')));
  return path.join(here.root, '.guild/live', socket);
}

test('the socket is 0600 in a folder of 0700, and another user cannot connect', async (t) => {
  const here = place(t, scripted(SLOW));
  const file = await working(here);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.dirname(file)).mode & 0o777, 0o700);
  if (!isRoot) return;
  // The parent folders are open to all; only our own folder and socket are closed.
  for (let up = path.dirname(path.dirname(file)); up !== '/'; up = path.dirname(up))
    if (up.startsWith(here.root)) fs.chmodSync(up, 0o755);
  const connect = (uid: number): string => {
    const code = `require('net').connect(${JSON.stringify(file)}).on('error', (e) => { console.log(e.code); process.exit() }).on('connect', () => { console.log('in'); process.exit() })`;
    return spawnSync(process.execPath, ['-e', code], { uid, cwd: '/', encoding: 'utf8' }).stdout.trim();
  };
  assert.equal(connect(0), 'in');
  assert.equal(connect(NOBODY), 'EACCES');
  fs.chmodSync(path.dirname(file), 0o755);
  assert.equal(connect(NOBODY), 'EACCES', 'the socket alone keeps others out, too');
});

test('a folder that others can enter and a socket of another user are not read', async (t) => {
  const here = place(t, scripted(SLOW));
  const folder = path.join(here.root, '.guild/live');
  fs.mkdirSync(folder, { recursive: true });
  fs.chmodSync(folder, 0o777);
  let visits = 0;
  const server = net.createServer(() => visits++).listen(path.join(folder, 'evil.sock'));
  t.after(() => server.close());
  await until(() => fs.existsSync(path.join(folder, 'evil.sock')));
  const live = followTurns(here.root, {});
  t.after(() => live.close());
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal(visits, 0);
  fs.chmodSync(folder, 0o700);
  if (isRoot) {
    fs.chownSync(path.join(folder, 'evil.sock'), NOBODY, NOBODY);
    await new Promise((resolve) => setTimeout(resolve, 600));
    assert.equal(visits, 0);
    fs.chownSync(path.join(folder, 'evil.sock'), 0, 0);
  }
  await until(() => visits > 0);
});

test('hostile text of a peer is escaped, and a peer that floods is dropped', async (t) => {
  const here = place(t, scripted(SLOW));
  const folder = path.join(here.root, '.guild/live');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const turn = (task: string): string =>
    `${JSON.stringify({
      turn: {
        task,
        root: task,
        agent: 'ana\u001b]0;owned\u0007\u001b[2J',
        since: new Date().toISOString(),
        words: 'I say \u001b[31mred\u009b2J\u202e\nnext',
        tool: { name: 'read\u001b[H', argument: '\u0007\u001b[5mblink' },
      },
    })}\n`;
  let visits = 0;
  const server = net.createServer((socket) => {
    visits++;
    socket.on('error', () => undefined);
    for (let n = 0; n < 3; n++) socket.write(turn(`evil${n}\u001b[1A`));
    // One endless line: it must not fill the reader's memory.
    if (visits === 1) for (let n = 0; n < 40; n++) socket.write('z'.repeat(100_000));
  });
  server.listen(path.join(folder, 'evil.sock'));
  t.after(() => server.close());
  const watch = pty(t, here.root, { columns: 80, rows: 24 }, 'watch');
  await watch.says(/ana/);
  await until(() => visits > 1);
  await watch.says(/ana/);
  const raw = watch.raw();
  for (const bad of ['\u001b]0;', '\u001b[2J', '\u001b[5m', '\u009b', '\u0007', '\u001b[1A\u001b'])
    assert.equal(raw.includes(bad), false, JSON.stringify(bad));
});
