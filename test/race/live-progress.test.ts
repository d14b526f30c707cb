/** Running turns between processes: other terminals see them; a kill costs only the display. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import { followTurns } from '../../src/app/live/follow-turns.js';
import { place, scripted, succeeds, type Place } from '../kit/guild.js';
import { pty } from '../kit/pty.js';
import { until } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('race, real processes', 3, 5);

const LONG = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ');
const SCRIPT = `
- { agent: boss, turn: 1, times: 1, pace: 40ms, say: "${LONG}" }
- { agent: boss, say: "${LONG}" }
`;
const CHILD = path.join(path.dirname(fileURLToPath(import.meta.url)), 'live-progress-child.js');

function office(t: TestContext): Place {
  return place(t, scripted(SCRIPT));
}

/** A process killed before it listens leaves a `.new` file, which is swept a minute later. */
const sockets = (here: Place): string[] => here.list('.guild/live').filter((name) => name.endsWith('.sock'));

test('another process sees the words while they arrive; a kill ends the turn and loses nothing', async (t) => {
  const here = office(t);
  here.put('tasks/pending/t1.json', JSON.stringify({ description: 'Talk', to: 'boss' }));
  const watch = here.spawn('watch');
  const ends: string[] = [];
  const live = followTurns(here.root, {}, { end: ({ task }) => void ends.push(task) });
  t.after(() => live.close());
  const first = await until(() => live.turns().find(({ words }) => words.includes('word3')));
  assert.equal(first.task, 't1');
  assert.equal(first.agent, 'boss');
  await until(() => live.turns()[0]!.words.length > first.words.length || live.turns()[0]!.words.includes('word9'));
  watch.child.kill('SIGKILL');
  await watch.ended;
  await until(() => ends.includes('t1') && live.turns().length === 0);
  await until(() => sockets(here).length === 0);
  succeeds(await here.guild('pump', '--all', '--quiet'));
  assert.match(here.read('results/t1.md'), /word0 word1[^]*word399/);
});

test('a second terminal shows what the first one works on', async (t) => {
  const here = office(t);
  here.put('tasks/pending/t1.json', JSON.stringify({ description: 'Talk for long', to: 'boss' }));
  const watch = here.spawn('watch');
  await until(() => sockets(here).length > 0);
  const second = pty(t, here.root, { columns: 80, rows: 24 }, 'watch');
  await second.says(/boss[^\n]*Talk for long[^\n]*word\d+/);
  watch.interrupt();
  await watch.ended;
});

test('processes that appear, sweep and die at once never remove the socket of a live one', async (t) => {
  const here = office(t);
  fs.mkdirSync(path.join(here.root, '.guild'), { mode: 0o700 });
  const children = Array.from({ length: 12 }, (_, n) =>
    spawn(process.execPath, [CHILD, here.root, `p${n}`], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  t.after(() => children.forEach((child) => child.kill('SIGKILL')));
  await Promise.all(children.map((child) => once(child.stdout, 'data')));
  const live = followTurns(here.root, {});
  t.after(() => live.close());
  for (const [n, child] of children.entries()) if (n % 2 === 1) child.kill('SIGKILL');
  const alive = children.flatMap((_, n) => (n % 2 === 0 ? [`t-p${n}`] : [])).sort();
  const seen = (): string[] =>
    live
      .turns()
      .map(({ task }) => task)
      .sort();
  await until(() => JSON.stringify(seen()) === JSON.stringify(alive));
  await until(() => sockets(here).length === alive.length);
  for (const child of children) child.stdin.end();
  await until(() => seen().length === 0 && sockets(here).length === 0);
});
