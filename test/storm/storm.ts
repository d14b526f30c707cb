/**
 * The kill storm: eight real processes work on one folder, and one after the other is killed and
 * replaced, until all tasks have ended. Programs that share no code with the product judge the
 * result.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openWorkspace } from '../../src/app/index.js';
import { seeded } from '../kit/sim-processes.js';
import '../kit/trust/state.js';

interface Storm {
  root: string;
  tasks: number;
  seed: number;
  workers?: number;
  /** The storm fails after this time. */
  limitMs: number;
}

interface Stormed {
  kills: number;
  seconds: number;
  /** The report of the concurrent reader. */
  reader: { reads: number; torn: string[]; partSeen: number };
  /** The problems that the checker found, one line each. */
  wrong: string[];
}

/** The reader and the checker are not compiled. */
const SOURCE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../test/storm');
/** The number of parts in which the tasks arrive, which is also the least number of kills. */
const PARTS = 8;
const WORKER = fileURLToPath(new URL('worker.js', import.meta.url));

export async function storm({ root, tasks, seed, workers = 8, limitMs }: Storm): Promise<Stormed> {
  writeStory(root);
  const random = seeded(seed);
  const from = Date.now();
  const reader = spawn(process.execPath, [path.join(SOURCE, 'reader.mjs'), root], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  reader.stdout.on('data', (data) => said.push(String(data)));
  const alive = Array.from({ length: workers }, () => enter(root));
  const dying: Promise<unknown>[] = [];
  let kills = 0;
  // The tasks arrive in parts, one after each kill, so that processes die while there is work.
  let dropped = 0;
  const dropSome = (): void => {
    const end = Math.min(tasks, dropped + Math.ceil(tasks / PARTS));
    while (dropped < end) dropTask(root, dropped++);
  };
  dropSome();
  // A short storm kills more often, so that enough processes die before the work is done.
  const pauseMs = Math.min(200, tasks / 4);
  try {
    while (dropped < tasks || !allEnded(root, tasks)) {
      if (Date.now() - from > limitMs) throw new Error(`after ${limitMs} ms not every task has ended`);
      await sleep(pauseMs * (1 + 3.5 * random()));
      await somethingEnded(root, random);
      const at = Math.floor(random() * alive.length);
      if (hasEnded(alive[at]!)) throw new Error('a worker ended by itself');
      dying.push(once(alive[at]!, 'exit'));
      alive[at]!.kill('SIGKILL');
      kills++;
      alive[at] = enter(root);
      dropSome();
    }
    await Promise.all([...dying, ...alive.map(leave)]); // a killed process may need a while to end
  } finally {
    for (const worker of alive) worker.kill('SIGKILL');
    reader.stdin.end();
  }
  await once(reader, 'close');
  await lookOnce(root);
  return {
    kills,
    seconds: (Date.now() - from) / 1000,
    reader: JSON.parse(said.join('')),
    wrong: await check(root, tasks),
  };
}

/**
 * A busy machine starts processes slowly, and processes that are always killed during start-up make
 * no progress. So the next kill waits until a task has ended since the last one, up to a limit.
 */
async function somethingEnded(root: string, random: () => number): Promise<void> {
  const ended = (): number =>
    ['completed', 'failed'].flatMap((state) => fs.readdirSync(path.join(root, 'tasks', state))).length;
  const before = ended();
  for (let looks = 0; looks < 100 && ended() === before; looks++) await sleep(20 + random() * 80);
}

function enter(root: string): ChildProcess {
  return fork(WORKER, [root], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function hasEnded(worker: ChildProcess): boolean {
  return worker.exitCode !== null || worker.signalCode !== null;
}

/** Waits for the first pass, asks the process to stop, and checks that it exits by itself. */
async function leave(worker: ChildProcess): Promise<void> {
  if (hasEnded(worker)) throw new Error('a worker ended by itself');
  const ended = once(worker, 'exit') as Promise<[number | null]>;
  const again = setInterval(() => worker.kill('SIGTERM'), 500);
  worker.once('message', () => worker.kill('SIGTERM'));
  worker.kill('SIGTERM');
  const [code] = await ended;
  clearInterval(again);
  if (code !== 0 && worker.signalCode !== 'SIGTERM') throw new Error(`a worker left with ${code}`);
}

/** The next process that opens the folder removes leftovers of dead ones. */
async function lookOnce(root: string): Promise<void> {
  const workspace = await openWorkspace(root);
  await workspace.pumpUntilQuiet();
  await workspace.close();
}

async function check(root: string, tasks: number): Promise<string[]> {
  const child = spawn(process.execPath, [path.join(SOURCE, 'checker.mjs'), root, String(tasks)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (data) => (text += String(data)));
  await once(child, 'close');
  return JSON.parse(text) as string[];
}

function allEnded(root: string, tasks: number): boolean {
  const roots = (state: string): number =>
    fs.readdirSync(path.join(root, 'tasks', state)).filter((name) => /^\w+-\d+\.json$/.test(name)).length;
  const open = (state: string): number => fs.readdirSync(path.join(root, 'tasks', state)).length;
  return roots('completed') + roots('failed') >= tasks && open('pending') + open('active') + open('waiting') === 0;
}

const KINDS = ['plain', 'writer', 'lead', 'plain', 'writer'];

/** The file is renamed into place: a reader would report a half-written one as a fault. */
function dropTask(root: string, n: number): void {
  const kind = KINDS[n % KINDS.length]!;
  const draft = path.join(root, 'draft.tmp');
  fs.writeFileSync(draft, JSON.stringify({ description: `Task ${n}`, to: kind }));
  fs.renameSync(draft, path.join(root, `tasks/pending/${kind}-${n}.json`));
}

function writeStory(root: string): void {
  const put = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  for (const state of ['pending', 'active', 'waiting', 'completed', 'failed'])
    fs.mkdirSync(path.join(root, 'tasks', state), { recursive: true });
  put(
    'guild.yaml',
    'model: demo/model\nproviders: { demo: { kind: scripted } }\nlimits: { attempts: 1000, parallel: 6 }\nwatch: { rescan: 1s }\n',
  );
  put('agents/plain.md', '---\ndescription: Answers\ntools: [read_file]\n---\nAnswer.\n');
  put('agents/writer.md', '---\ndescription: Writes\ntools: [write_file]\n---\nWrite.\n');
  put('agents/lead.md', '---\ndescription: Leads\ntools: [delegate_to_agent]\nagents: [plain, writer]\n---\nLead.\n');
  put('memory/facts.md', `A fact of some length. ${'More of it. '.repeat(60)}\n`);
  put(
    'script.yaml',
    `- { agent: plain, turn: 1, wait: 15ms, say: I look., call: [{ read_file: { path: memory/facts.md } }] }
- { agent: plain, turn: 2, wait: 15ms, say: "answer of {{task}}" }
- { agent: writer, turn: 1, wait: 10ms, call: [{ write_file: { path: "workspaces/writer/{{task}}.txt", content: "{{task}} wrote this\\n" } }] }
- { agent: writer, turn: 2, when: /unknown_outcome/, wait: 10ms, say: "perhaps written by {{task}}" }
- { agent: writer, turn: 2, wait: 10ms, say: "written by {{task}}" }
- { agent: lead, turn: 1, wait: 10ms, call: [{ delegate_to_agent: { agent: plain, task: look } }, { delegate_to_agent: { agent: writer, task: write } }] }
- { agent: lead, turn: 2, wait: 10ms, say: "both answered {{task}}" }
`,
  );
}
