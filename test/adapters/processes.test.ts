/** A process counts as dead exactly when none of its threads can still write. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { processes } from '../../src/adapters/processes/index.js';
import { whereabouts } from '../../src/domain/peer.js';
import { parseStat } from '../../src/text/lines/process-stat.js';

const stat = (state: string, threads: number, name = 'node'): string =>
  `4711 (${name}) ${state} 12 4711 4711 0 -1 4194304 9 0 0 0 1 2 0 0 20 0 ${threads} 0 998877 0 0`;

test('a process is alive until its last thread has ended, even if the first has', () => {
  for (const [state, threads, isAlive] of [
    ['R', 11, true],
    ['D', 1, true],
    ['Z', 11, true],
    ['X', 2, true],
    ['Z', 1, false],
    ['X', 0, false],
  ] as const)
    assert.equal(parseStat(stat(state, threads)) !== undefined, isAlive, `${state} with ${threads}`);
});

test('a process name may contain parentheses and spaces', () => {
  const read = parseStat(stat('S', 1, 'a) Z 1 (b'));
  assert.deepEqual(read, { pid: 4711, parent: 12, group: 4711, since: '998877', name: 'a) Z 1 (b' });
});

const WRITER = `
const fs = require('node:fs');
let n = 0;
const next = () => fs.open(process.argv[1] + '/' + ++n, 'wx', (_, fd) => fs.write(fd, 'x', () => fs.fdatasync(fd, () => (fs.closeSync(fd), next()))));
for (let i = 0; i < 8; i++) next();
process.stdout.write('on');
`;

test(
  'once a killed process counts as dead, no thread of it can still write',
  { skip: process.platform !== 'linux' && 'threads are visible on Linux only' },
  async (t) => {
    const folder = tempFolder('threads', t);
    const { me, isAlive } = processes();
    for (let round = 0; round < 12; round++) {
      const child = spawn(process.execPath, ['-e', WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      const identity = {
        ...me(),
        pid: child.pid!,
        startTime: parseStat(fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8'))!.since,
      };
      assert.ok(isAlive(identity));
      child.kill('SIGKILL');
      while (isAlive(identity));
      const remaining = threads(child.pid!);
      const then = fs.readdirSync(folder).length;
      await once(child, 'close');
      assert.ok(remaining <= 1, `${remaining} threads are left`);
      assert.equal(fs.readdirSync(folder).length, then);
      assert.ok(!isAlive(identity));
      for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name));
    }
  },
);

test('a reused pid is not mistaken for the process that had it before', () => {
  const { me, isAlive } = processes();
  assert.ok(isAlive(me()));
  assert.ok(!isAlive({ ...me(), startTime: '1' }));
  assert.ok(!isAlive({ ...me(), bootId: 'another boot' }));
});

test('a process of an earlier boot is dead, whatever the name of its host', () => {
  const { me, isAlive } = processes();
  assert.ok(!isAlive({ ...me(), bootId: 'another boot', host: 'the-old-container' }));
  assert.ok(!isAlive({ ...me(), bootId: 'another boot', pidNamespace: 'pid:[1]' }));
});

test('a process in another pid namespace cannot be judged and counts as alive; the host name decides nothing', () => {
  const { me, isAlive } = processes();
  const here = { ...me(), pidNamespace: me().pidNamespace ?? 'pid:[1]' };
  assert.equal(whereabouts({ ...here, pidNamespace: 'pid:[2]' }, here), 'elsewhere');
  assert.equal(whereabouts({ ...here, host: 'renamed' }, here), 'here');
  if (me().pidNamespace === undefined) return;
  assert.ok(isAlive({ ...me(), pidNamespace: 'pid:[1]', startTime: '1' }));
  assert.ok(!isAlive({ ...me(), host: 'renamed', startTime: '1' }), 'the same namespace: its pid can be looked up');
});

test('a file of an earlier version names no pid namespace: then the host decides whether it can be judged', () => {
  const { me, isAlive } = processes();
  const { pidNamespace: _, ...old } = me();
  assert.ok(isAlive(old));
  assert.ok(!isAlive({ ...old, startTime: '1' }));
  assert.ok(isAlive({ ...old, host: 'elsewhere', startTime: '1' }));
});

test(
  'on Linux a process knows its pid namespace',
  { skip: process.platform !== 'linux' && 'other systems have no pid namespaces' },
  () => assert.equal(processes().me().pidNamespace, fs.readlinkSync('/proc/self/ns/pid')),
);

function threads(pid: number): number {
  try {
    return fs.readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}
