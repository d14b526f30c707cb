/** `guild cost`: an unknown price is not a price of zero. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { place, succeeds } from '../../kit/guild.js';
import { onTerminal } from '../../kit/guild.js';

test('the cost of a model without a price is unknown, and cost says how to set it', async (t) => {
  const workspace = place(t, {
    'agents/boss.md': '---\ndescription: Does it\n---\nYou are the boss.\n',
    'play.yaml': '- say: Done.\n',
  });
  // A server on this machine is free. This address does not count as local.
  const server = workspace.start('model-server', '--script', 'play.yaml', '--host', '0.0.0.0', '--port', '0', '--json');
  const url = await server.says(/"url":"([^"]+)"/);
  const config = `providers: { house: { base_url: "${url}" } }\nmodel: house/large\n`;
  workspace.put('guild.yaml', config);
  succeeds(await workspace.guild('run', 'boss', 'Begin'));

  const { out, err } = succeeds(await workspace.guildWith(onTerminal(40), 'cost'));
  assert.match(out, /^boss .*price unknown$/m);
  assert.doesNotMatch(out, /\$/);
  assert.match(err, /price of house\/large is not known[^]*prices: \{ house\/large: \{ input: /);
  const { total } = JSON.parse(succeeds(await workspace.guild('cost', '--json')).out) as {
    total: Record<string, number>;
  };
  assert.deepEqual([total['calls'], total['unpriced_calls'], total['micro_usd']], [1, 1, 0]);
  assert.match(succeeds(await workspace.guild('top', '--once')).out, / tokens · price unknown · /);

  workspace.put('guild.yaml', `${config}prices: { house/large: { input: 1000, output: 1000 } }\n`);
  succeeds(await workspace.guild('run', 'boss', 'Again'));
  assert.match(succeeds(await workspace.guild('cost')).out, /^total .*\$\d+\.\d{6} \+ unknown/m);
});

test('the cost of very many tasks is laid out in linear time', async (t) => {
  const COUNT = 60_000;
  const line = (n: number): string =>
    `{"at":"2026-01-31T09:00:00.000Z","name":"model.answered","task":"t${n}","agent":"boss","input_tokens":${n}}\n`;
  const workspace = place(t, { 'guild.yaml': '' });
  workspace.put('events/2026-01-31.jsonl', Array.from({ length: COUNT }, (_, n) => line(n)).join(''));
  const from = process.cpuUsage();
  const { out } = succeeds(await workspace.guild('cost', '--by', 'task'));
  const { user, system } = process.cpuUsage(from);
  assert.equal(out.trimEnd().split('\n').length, COUNT + 1);
  assert.ok((user + system) / 1e6 < 15, `${(user + system) / 1e6} s for ${COUNT} rows`);
});
