/**
 * Real processes pump one workspace while messages arrive and the file is rotated: each message
 * becomes one task.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { place } from '../kit/guild.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 11);

const MESSAGES = 60;

test('three concurrent pumps, a kill and a rotation create one task per message', async (t) => {
  const here = place(t, {
    'guild.yaml': 'model: demo/x\nproviders: {demo: {kind: scripted}}\ngit: false\n',
    'script.yaml': '- {agent: planner, say: Noted.}\n',
    'agents/planner.md': '---\ndescription: d\n---\nx\n',
    'inbox/slack-messages.jsonl': '',
  });
  const file = path.join(here.root, 'inbox/slack-messages.jsonl');
  const add = (from: number, to: number): void => {
    for (let n = from; n < to; n++)
      fs.appendFileSync(file, `${JSON.stringify({ from: 'sarah', text: `message ${n}` })}\n`);
  };
  add(0, 20);
  const first = [1, 2, 3].map(() => here.spawn('pump', '--all'));
  add(20, 40);
  const killed = here.spawn('pump', '--all');
  await killed.says(/planner/).then(
    () => killed.child.kill('SIGKILL'),
    () => undefined, // another process was faster
  );
  await Promise.all(first.map((one) => one.ended));
  fs.renameSync(file, `${file}.1`);
  add(40, MESSAGES);
  await Promise.all([1, 2, 3].map(() => here.guild('pump', '--all')));
  const last = await here.guild('pump', '--all');
  assert.equal(last.code, 0, last.err);
  const done = here
    .list('tasks/completed')
    .map((name) => JSON.parse(here.read(`tasks/completed/${name}`)) as { description: string });
  const numbers = done.map(({ description }) => Number(/message (\d+)/.exec(description)![1])).sort((a, b) => a - b);
  assert.deepEqual(
    numbers,
    Array.from({ length: MESSAGES }, (_, n) => n),
  );
  const made = here
    .list('events')
    .flatMap((name) => here.read(`events/${name}`).split('\n'))
    .filter((line) => line.includes('"task.created"'))
    .map((line) => (JSON.parse(line) as { task: string }).task);
  assert.equal(new Set(made).size, made.length, 'no task was made twice');
  // The killed process may have created a task without its event.
  assert.ok(made.length >= MESSAGES - 1 && made.length <= MESSAGES, `${made.length} were reported`);
  for (const folder of ['pending', 'active', 'waiting', 'failed']) assert.deepEqual(here.list(`tasks/${folder}`), []);
});
