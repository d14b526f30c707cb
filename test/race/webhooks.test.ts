/** Two servers get the same call, and one is killed after its answer: there is one message. */
import assert from 'node:assert/strict';
import { place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 12);

const ENV = { CI_TOKEN: 'token-token-token' };

test('a call that was answered survives a kill, and the same call to two servers is one task', async (t) => {
  const here = place(t, {
    'guild.yaml':
      'model: demo/x\nproviders: {demo: {kind: scripted}}\ngit: false\nwebhooks:\n  ci: {kind: token, secret_env: CI_TOKEN}\n',
    'script.yaml': '- {agent: planner, say: Noted.}\n',
    'agents/planner.md': '---\ndescription: d\n---\nx\n',
  });
  const servers = [1, 2].map(() => here.spawnWith({ env: ENV }, 'serve', '--port', '0', '--no-work'));
  const addresses = await Promise.all(servers.map((one) => one.says(/(http:\S+\/hooks\/ci)/)));
  const post = (address: string, key: string): Promise<Response> =>
    fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${ENV.CI_TOKEN}`, 'idempotency-key': key },
      body: `call ${key}`,
    });
  const keys = Array.from({ length: 20 }, (_, n) => `k${n}`);
  const replies = await Promise.all(keys.flatMap((key) => addresses.map((address) => post(address, key))));
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [202]);
  for (const { child } of servers) child.kill('SIGKILL');
  await Promise.all([1, 2].map(() => here.guild('pump', '--all')));
  const last = await here.guild('pump', '--all');
  assert.equal(last.code, 0, last.err);
  const texts = here
    .list('tasks/completed')
    .map((name) => /call (k\d+)/.exec(here.read(`tasks/completed/${name}`))![1]!);
  assert.deepEqual(texts.sort(), keys.sort());
});
