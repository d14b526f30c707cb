/** Notifications with several processes: each is sent once. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { place, scripted, type Place } from '../kit/guild.js';
import { until } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 8);

const SCRIPT = `
- {agent: boss, turn: 1, call: [{ask_human: {question: "May I, {{task}}?"}}]}
- {agent: boss, say: done}
`;

interface Told {
  title: string;
  notices: { kind: string; task: string; agent: string; title: string }[];
}

function office(t: TestContext, notify: string): Place {
  const here = place(t, scripted(SCRIPT));
  here.put('agents/boss.md', '---\ndescription: Asks\ntools: [ask_human]\n---\nAsk.\n');
  here.put('guild.yaml', `${here.read('guild.yaml')}git: false\nnotify:\n${notify}`);
  return here;
}

const LOG = `  command: 'printf "%s\\n" "$GUILD_NOTICE" >> told.jsonl'\n`;

function told(here: Place): Told[] {
  const file = path.join(here.root, 'told.jsonl');
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  return lines.map((line) => JSON.parse(line) as Told);
}

const ask = (here: Place, id: string): void =>
  here.put(`tasks/pending/${id}.json`, JSON.stringify({ description: `Ask for ${id}`, to: 'boss' }));

test('three processes report each of twenty questions once, in few messages', async (t) => {
  const here = office(t, `  gather: 300ms\n${LOG}`);
  const watches = [here.spawn('watch'), here.spawn('watch'), here.spawn('watch')];
  await until(() => here.list('agents/live').length === 3);
  for (let n = 0; n < 20; n++) ask(here, `t${n}`);
  const tasks = (): string[] => told(here).flatMap(({ notices }) => notices.map(({ task }) => task));
  await until(() => tasks().length >= 20);
  for (const watch of watches) watch.interrupt();
  await Promise.all(watches.map(({ ended }) => ended));
  assert.equal(tasks().length, 20);
  assert.equal(new Set(tasks()).size, 20);
  assert.ok(told(here).length < 20, `${told(here).length} messages for one burst`);
  assert.match(told(here)[0]!.title, /waits? for you in guild-cli-/);
});

test('a command that ends notifies at once; in quiet hours it does not, and a later process does', async (t) => {
  const now = new Date();
  const minutes = now.getHours() * 60 + now.getMinutes();
  const clock = (minute: number): string =>
    `${String(Math.floor((minute % 1440) / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
  const quiet = `  quiet_hours: "${clock(minutes + 1440 - 5)}-${clock(minutes + 60)}"\n`;
  const here = office(t, `  gather: 60s\n${quiet}${LOG}`);
  ask(here, 't1');
  await here.guildWith({ cwd: here.root }, 'pump', '--all', '--quiet');
  assert.equal(told(here).length, 0);
  here.put('guild.yaml', here.read('guild.yaml').replace(quiet, '').replace('gather: 60s', 'gather: 50ms'));
  const watch = here.spawn('watch');
  await until(() => told(here).length === 1);
  ask(here, 't2');
  await until(() => told(here).length === 2);
  watch.interrupt();
  await watch.ended;
  assert.deepEqual(
    told(here).map(({ notices }) => notices[0]!.kind),
    ['waits', 'waits'],
  );
});
