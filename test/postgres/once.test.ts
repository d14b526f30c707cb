/** Things that happen once, whichever of several machines does them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { place, scripted, succeeds, whileRunning } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres, long', 3, 0);

const QUESTIONS = 8;
const SCRIPT = `- {agent: boss, turn: 1, call: [{ask_human: {question: "May I, {{task}}?"}}]}
- {agent: boss, say: done}
`;

interface Told {
  notices: { task: string }[];
}

test('a notice is sent by one machine, also after a restart', { skip: NO_POSTGRES }, async (t) => {
  const { server, schema, end } = await field();
  const desk = place(t);
  const log = path.join(desk.root, 'told.jsonl');
  const files = scripted(SCRIPT, { 'agents/boss.md': '---\ndescription: Asks\ntools: [ask_human]\n---\nAsk.\n' });
  files['guild.yaml'] +=
    `git: false\ncoordination: { lease: 2s }\nstore: ${server.url}?schema=${schema}\n` +
    `notify:\n  gather: 200ms\n  command: 'printf "%s\\n" "$GUILD_NOTICE" >> ${log}'\n`;
  for (const [file, text] of Object.entries(files)) desk.put(file, text);
  succeeds(await desk.guild('publish'));
  const places = [1, 2, 3].map(() => place(t, files));
  let workers = places.map((here) => here.spawn('watch'));
  await Promise.all(workers.map(({ says }) => says(/watching/)));
  for (let n = 0; n < QUESTIONS; n++) succeeds(await desk.guild('task', 'add', `Ask ${n}`, '--to', 'boss'));
  const tasks = (): string[] =>
    (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n').slice(0, -1) : []).flatMap((line) =>
      (JSON.parse(line) as Told).notices.map(({ task }) => task),
    );
  await whileRunning(
    workers,
    until(() => new Set(tasks()).size === QUESTIONS),
  );
  for (const worker of workers) worker.interrupt();
  await Promise.all(workers.map(({ ended }) => ended));
  // A process that starts looks for questions that nobody was notified of.
  workers = places.map((here) => here.spawn('watch'));
  await Promise.all(workers.map(({ says }) => says(/watching/)));
  succeeds(await desk.guild('task', 'add', 'One more', '--to', 'boss'));
  await whileRunning(
    workers,
    until(() => new Set(tasks()).size === QUESTIONS + 1),
  );
  for (const worker of workers) worker.interrupt();
  await Promise.all(workers.map(({ ended }) => ended));
  assert.equal(tasks().length, QUESTIONS + 1, tasks().join(' '));
  await end();
});
