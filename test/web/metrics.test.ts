/** Figures for Prometheus, as `guild watch --metrics` serves them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { counters, metricsText } from '../../src/views/metrics.js';
import { place, scripted, succeeds, whileRunning } from '../kit/guild.js';
import { until } from '../kit/until.js';

test('a watching process serves counts, and no text of any task', async (t) => {
  const here = place(t, scripted('- {agent: boss, turn: 1, say: "a secret answer"}\n'));
  succeeds(await here.guild('task', 'add', 'a private question', '--to', 'boss', '--id', 'private-id'));
  const watching = here.start('watch', '--metrics', '0');
  const address = await watching.says(/metrics: (http:\S+)/);
  const read = async (): Promise<string> => (await fetch(address)).text();
  await whileRunning(
    [watching],
    until(async () => /guild_tasks_ended_total\{state="completed"\} 1/.test(await read())),
  );
  const text = await read();
  assert.match(text, /^guild_tasks_open\{state="pending"\} 0$/m);
  assert.match(text, /^guild_processes 1$/m);
  assert.match(text, /^guild_model_calls_total\{agent="boss",model="pretend\/x"\} 1$/m);
  assert.match(text, /^guild_tokens_total\{agent="boss",model="pretend\/x",kind="input"\} [1-9]/m);
  assert.doesNotMatch(text, /private|secret/);
  for (const line of text.trim().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) guild_\w+ .+|guild_\w+(\{(\w+="[^"\n]*",?)+\})? [\d.e+-]+)$/);
  const { origin } = new URL(address);
  for (const [path, method] of [
    ['/', 'GET'],
    ['/metrics', 'POST'],
    ['/../guild.yaml', 'GET'],
  ] as const)
    assert.equal((await fetch(`${origin}${path}`, { method })).status, 404);
  watching.interrupt();
  assert.equal((await watching.ended).code, 0);
});

test('a wrong or taken port is one clear error, and nothing keeps running', async (t) => {
  const here = place(t, scripted('- {agent: boss, turn: 1, say: hello}\n'));
  const odd = await here.guild('watch', '--metrics', 'here');
  assert.equal(odd.code, 2);
  assert.match(odd.err, /--metrics must be a port or host:port/);
  const first = here.start('watch', '--metrics', '0');
  const port = await first.says(/metrics: http:\/\/127\.0\.0\.1:(\d+)/);
  const second = await here.guild('watch', '--metrics', port);
  assert.equal(second.code, 2);
  assert.match(second.err, /cannot listen on/);
  first.interrupt();
  await first.ended;
});

test('names in labels cannot break the format', () => {
  const counted = counters();
  counted.count({ at: '', name: 'tool.ran', peer: 'p', agent: 'a"b\\c\nd' });
  const gauges = { pending: 0, active: 0, waiting: 0, requests: 0, processes: 1, worstLagMs: 2 };
  assert.match(metricsText(gauges, counted), /^guild_tool_calls_total\{agent="a\\"b\\\\c\\nd"\} 1$/m);
});
