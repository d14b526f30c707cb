/**
 * A notice is sent at most once, wherever its process dies. It can be lost only after its mark was
 * written.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { disk } from '../../src/adapters/disk/index.js';
import { notifyLedger } from '../../src/adapters/notify/index.js';
import { place, scripted } from '../kit/guild.js';
import { until } from '../kit/until.js';

const NOTICE = { kind: 'waits', task: 't1' } as const;
const SCRIPT = '- {agent: boss, turn: 1, call: [{ask_human: {question: "May I?"}}]}\n- {say: done}\n';

test('a webhook is not delivered again after its process was killed during the delivery', async (t) => {
  const here = place(t, scripted(SCRIPT));
  let kill = (): void => undefined;
  const got: string[] = [];
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      got.push(request.url ?? '');
      kill();
      setTimeout(() => response.destroy(), 50);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const notify = `notify:\n  gather: 50ms\n  webhook: {url: "${url}", secret_env: HOOK_SECRET}\n`;
  here.put('agents/boss.md', '---\ndescription: Asks\ntools: [ask_human]\n---\nAsk.\n');
  here.put('guild.yaml', `${here.read('guild.yaml')}git: false\n${notify}`);
  here.put('tasks/pending/t1.json', JSON.stringify({ description: 'Ask', to: 'boss' }));
  const given = { env: { HOOK_SECRET: 'quite secret' } };
  const first = here.spawnWith(given, 'watch');
  kill = () => void first.child.kill('SIGKILL');
  await first.ended;
  kill = () => undefined;
  assert.equal(got.length, 1);
  // The second process reports what happens after its start, so it has seen the first notice, too.
  here.put('tasks/pending/t2.json', JSON.stringify({ description: 'Ask again', to: 'boss' }));
  const second = here.spawnWith(given, 'watch');
  await until(() => got.length >= 2);
  second.interrupt();
  await second.ended;
  const marks = here.list('.guild/notified').filter((name) => name.endsWith('.sent'));
  assert.equal(marks.length, 2);
  // Each claim after the first one would be a second message about the same thing.
  assert.deepEqual(
    here.list('.guild/notified').filter((name) => /\.[2-9]$/.test(name)),
    [],
  );
});

test('a claim of a dead process is taken over without its mark, and not with it', (t) => {
  const root = tempFolder('notified', t);
  const isDead = (): boolean => false;
  const isAlive = (): boolean => true;
  assert.equal(notifyLedger(disk(), root, 'p1').claim(NOTICE, isDead), true);
  assert.equal(notifyLedger(disk(), root, 'p2').claim(NOTICE, isAlive), false, 'p1 is alive and will send');
  assert.equal(notifyLedger(disk(), root, 'p2').claim(NOTICE, isDead), true, 'p1 died and had sent nothing');
  notifyLedger(disk(), root, 'p2').sent(NOTICE);
  assert.equal(notifyLedger(disk(), root, 'p3').claim(NOTICE, isDead), false, 'p2 may have sent it');
  assert.equal(notifyLedger(disk(), root, 'p3').isKnown(NOTICE, isDead), true);
});
