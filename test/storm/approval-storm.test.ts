/**
 * Approvals are answered on the ballot and by intents while processes are killed and started: each
 * approved command has one record and runs at most once, and none is reported as run without one.
 */
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { auditEffects } from '../../src/app/audit-effects.js';
import { openWorkspace } from '../../src/app/index.js';
import { openDesk } from '../../src/app/approvals.js';
import { openReader } from '../../src/app/readers/open-reader.js';
import { ProblemError } from '../../src/domain/problem.js';
import { approvalOf } from '../../src/domain/task/approval.js';
import { print53 } from '../../src/domain/task/id.js';
import { sampleTests } from '../kit/sample.js';
import { EVERYTHING, SEED } from '../kit/seed.js';
import { seeded } from '../kit/sim-processes.js';
import '../kit/trust/state.js';

/** `npm test` runs one of the three storms. */
const test = sampleTests('storm', 3, 1);

const APPROVALS = EVERYTHING ? 200 : 24;
const LIMIT_MS = 1_800_000;
const BALLOT = 'tasks/approvals.task.md';
const WORKER = fileURLToPath(new URL('worker.js', import.meta.url));
const SCRIPT = `
- agent: ana
  turn: 1
  call: [{execute_command: {command: "echo ran >> {{task}}.a"}}, {execute_command: {command: "echo ran >> {{task}}.b"}}]
- {agent: ana, turn: 2, say: Both are done.}
`;

const isYes = (id: string): boolean => print53(id) % 5 !== 0;
const names = (root: string, folder: string): string[] => fs.readdirSync(path.join(root, folder));
const enter = (root: string): ChildProcess => fork(WORKER, [root], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });

function writeStory(root: string): void {
  const put = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  for (const state of ['pending', 'active', 'waiting', 'completed', 'failed'])
    fs.mkdirSync(path.join(root, 'tasks', state), { recursive: true });
  put(
    'guild.yaml',
    `model: demo/model\nproviders: { demo: { kind: scripted } }\nlimits: { attempts: 1000, parallel: 6, requests: ${APPROVALS} }\nwatch: { rescan: 1s }\ngit: false\n`,
  );
  put('agents/ana.md', '---\ndescription: Acts\ntools: [execute_command]\nmaxConcurrentTasks: 6\n---\nAct.\n');
  put('script.yaml', SCRIPT);
  for (let n = 0; n < APPROVALS / 2; n++) put(`tasks/pending/t${n}.json`, '{"description": "do both", "to": "ana"}');
}

const openIds = (root: string): string[] =>
  ['pending', 'waiting'].flatMap((state) =>
    names(root, `tasks/${state}`).flatMap((name) => /^(t\d+\.call-[\w-]+)\.json$/.exec(name)?.[1] ?? []),
  );

/**
 * Answers some of the requests that the ballot shows: by an intent, or on the ballot, in place or
 * replaced. A person leaves the program time to write in between. Returns how many.
 */
async function answerSome(root: string, random: () => number): Promise<number> {
  const file = path.join(root, BALLOT);
  const buffer = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const chosen = openIds(root).filter((id) => buffer.includes(`id: ${id}\n`) && random() < 0.2);
  if (chosen.length === 0) return 0;
  if (random() < 0.8) {
    const desk = await openDesk(root, process.env);
    const open = new Map(desk.list().map((request) => [request.id, request]));
    for (const id of chosen) {
      const seen = open.get(id)?.seen;
      if (seen === undefined) continue;
      await desk.answer(id, seen, { approved: isYes(id), by: 'human' }).catch((error: unknown) => {
        // A process may have settled an earlier answer, for example on the ballot.
        if (!(error instanceof ProblemError) || !error.message.startsWith(`${id} was already `)) throw error;
      });
    }
    await desk.close();
    return chosen.length;
  }
  let text = buffer;
  for (const id of chosen)
    text = text.replace(new RegExp(`- \\[_\\](.*\\n {2}id: ${id}\\n)`), `- [${isYes(id) ? 'x' : '-'}]$1`);
  if (random() < 0.5) fs.writeFileSync(file, text);
  else {
    fs.writeFileSync(`${file}.swp`, text);
    fs.renameSync(`${file}.swp`, file);
  }
  return chosen.length;
}

async function storm(root: string, random: () => number): Promise<number> {
  const alive = Array.from({ length: 4 }, () => enter(root));
  const end = Date.now() + LIMIT_MS;
  let kills = 0;
  let answered = 0;
  const ended = (): number => names(root, 'tasks/completed').length + names(root, 'tasks/failed').length;
  try {
    for (let before = ended(), round = 1; ended() < APPROVALS * 1.5; round++) {
      if (Date.now() > end) throw new Error(`after ${LIMIT_MS} ms only ${ended()} tasks have ended`);
      await sleep(20 + random() * 80);
      answered += await answerSome(root, random);
      // A process killed during its start makes no progress, so most kills wait for an ended task.
      // However slow the processes are, some kills follow from the answers alone.
      const isDue = kills < answered / 6;
      if (ended() === before && round % 40 !== 0 && !isDue) continue;
      before = ended();
      if (random() < 0.5 && !isDue) continue;
      const at = Math.floor(random() * alive.length);
      alive[at]!.kill('SIGKILL');
      kills++;
      alive[at] = enter(root);
    }
  } finally {
    const gone = alive.map((worker) => once(worker, 'exit'));
    for (const worker of alive) worker.kill('SIGKILL');
    await Promise.all(gone);
  }
  return kills;
}

test(
  `R1: ${APPROVALS} approvals answered in a kill storm: one record each, no run twice (SEED=${SEED})`,
  { timeout: LIMIT_MS + 120_000 },
  async (t) => {
    const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'guild-approvals-')));
    writeStory(root);
    const kills = await storm(root, seeded(SEED));
    const workspace = await openWorkspace(root);
    await workspace.pumpUntilQuiet();
    await workspace.close();
    const store = openReader(root);
    const ballot = fs.readFileSync(path.join(root, BALLOT), 'utf8');
    const wrong: string[] = [];
    let onBallot = 0;
    const fates = { done: 0, refused: 0, unknown: 0 };
    const approvals = (await store.tasks.ended()).flatMap(({ task }) => approvalOf(task) ?? []);
    for (const { id, answer, request } of approvals) {
      const file = path.join(root, String(request.arguments['command']).split('>> ')[1]!);
      const runs = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').length - 1 : 0;
      const { state } = await store.effects.get(id);
      const shown = new RegExp(` {2}id: ${id}\\n(?: {2}.*\\n)*? {2}fate: "?(done|refused|unknown)`).exec(ballot)?.[1];
      const expected = !isYes(id) ? 'refused' : state === 'done' ? 'done' : 'unknown';
      if (answer?.approved !== isYes(id)) wrong.push(`${id}: answered ${JSON.stringify(answer)}`);
      if ((state === 'none') === isYes(id)) wrong.push(`${id}: its record is ${state}`);
      if (ballot.includes(`id: ${id}\n`) && shown !== expected)
        wrong.push(`${id}: the ballot shows ${shown}, not ${expected}`);
      if (runs > 1 || (state === 'done' && runs !== 1) || (!isYes(id) && runs > 0))
        wrong.push(`${id}: ran ${runs} times`);
      fates[expected]++;
      if (shown !== undefined) onBallot++;
    }
    await store.close();
    t.diagnostic(`${kills} kills; ${JSON.stringify(fates)}; ${onBallot} on the ballot`);
    assert.deepEqual(wrong.slice(0, 20), [], `see ${root}`);
    assert.equal(approvals.length, APPROVALS);
    assert.deepEqual((await auditEffects(root)).unrecorded, []);
    // A save of an outdated buffer may drop entries that were answered meanwhile.
    assert.ok(kills >= 3 && onBallot > APPROVALS / 2, `${kills} kills and ${onBallot} entries prove too little`);
    fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  },
);
