/**
 * `guild demo --cluster`: three workers and a desk in four folders, with nothing between them but a
 * PostgreSQL that the demo starts itself. One worker is killed while it works; the others continue
 * its task after the lease. The person answers in the folder of the desk.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { initStore } from '../../../app/machines/index.js';
import { startLocalPostgres, type LocalPostgres } from '../../../app/machines/index.js';
import { publishDefinitions } from '../../../app/machines/publish.js';
import { storeAddress } from '../../../app/machines/store-address.js';
import { packageFolder } from '../../../app/starter.js';
import { acceptTrust } from '../../../app/trust/trust.js';
import type { Env } from '../../../domain/config/env.js';
import { INTERVALS } from '../../../domain/intervals.js';
import { problemError } from '../../../domain/problem.js';
import { EXIT, type Call } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';
import { answerBallot, BALLOT, openEntries } from './ballot.js';

const WORKERS = 3;
const TASKS: Record<string, { description: string; to: string }> = {
  lesson: { description: 'What do leases and fences have in common?', to: 'planner' },
  print: { description: 'Print the lesson', to: 'printer' },
  ...Object.fromEntries(
    ['claims', 'clocks', 'commits', 'doorbells', 'mirrors', 'retries'].map((name) => [
      name,
      { description: `Read the chapter on ${name}`, to: 'librarian' },
    ]),
  ),
};

/** One process of the demo, in its own folder. */
interface Machine {
  name: string;
  root: string;
  child: ChildProcess;
  ended: Promise<unknown>;
}

interface Stage {
  call: Call;
  desk: string;
  env: Env;
  machines: Machine[];
  signal: AbortSignal;
}

export async function playOnCluster(call: Call, folder: string): Promise<number> {
  const { terminal, io } = call;
  const stop = new AbortController();
  const off = onInterrupt(io, () => stop.abort());
  let server: LocalPostgres | undefined;
  const machines: Machine[] = [];
  try {
    terminal.say(`${terminal.bold('Three machines and a desk')}, played offline on a scripted model.`);
    terminal.say(terminal.dim(`Each of them is a folder in ${folder}; none reads another's.\n`));
    if (!io.env['GUILD_STORE']) server = await startLocalPostgres();
    const env = { ...io.env, GUILD_STORE: storeOf(server?.url ?? io.env['GUILD_STORE']!) };
    const names = ['desk', ...Array.from({ length: WORKERS }, (_, i) => `worker-${i + 1}`)];
    for (const name of names) makeFolder(path.join(folder, name), env);
    const desk = path.join(folder, 'desk');
    await initStore(storeAddress(desk, env), 'demo');
    await publishDefinitions(desk, env);
    const stage: Stage = { call, desk, env, machines, signal: stop.signal };
    terminal.say(
      server ? 'PostgreSQL is started, and the definitions are published.' : 'The definitions are published.',
    );
    for (const name of names.slice(1)) machines.push(start(name, path.join(folder, name), env, 'watch'));
    machines.push(start('desk', desk, env, 'sync'));
    await play(stage);
    if (stop.signal.aborted) return EXIT.interrupted;
    return await showEnd(stage, path.join(folder, 'plain'));
  } finally {
    off();
    await ended(machines);
    await server?.stop();
  }
}

/** A new schema in the database that the person names. */
function storeOf(address: string): string {
  const url = new URL(address);
  url.searchParams.set('schema', `demo_${randomBytes(4).toString('hex')}`);
  return url.href;
}

function makeFolder(root: string, env: Stage['env']): void {
  fs.cpSync(packageFolder('examples', 'machines'), root, { recursive: true });
  // The folder is a copy of files that came with this program.
  acceptTrust(root, env);
}

function start(name: string, root: string, env: Stage['env'], command: 'watch' | 'sync'): Machine {
  const log = fs.openSync(path.join(root, '..', `${name}.log`), 'a');
  const child = spawn(process.execPath, [process.argv[1]!, command, '--workspace', root], {
    env,
    cwd: root,
    stdio: ['ignore', log, log],
  });
  fs.closeSync(log);
  return { name, root, child, ended: once(child, 'exit') };
}

async function play(stage: Stage): Promise<void> {
  const { call, desk, machines } = stage;
  const { terminal } = call;
  await until(stage, () => fs.existsSync(path.join(desk, 'tasks/pending')));
  for (const [id, task] of Object.entries(TASKS))
    fs.writeFileSync(path.join(desk, 'tasks/pending', `${id}.json`), JSON.stringify(task));
  terminal.say(`You drop ${Object.keys(TASKS).length} files into desk/tasks/pending.`);
  const victim = await claimant(stage);
  if (victim === undefined) return;
  victim.machine.child.kill('SIGKILL');
  await victim.machine.ended;
  machines.splice(machines.indexOf(victim.machine), 1);
  terminal.say(
    `${terminal.colour('red', `${victim.machine.name} is killed`)} while it works on ${victim.task}. The others wait for its lease.`,
  );
  let isAsked = false;
  await until(stage, async () => {
    if (!isAsked && openEntries(desk) > 0) {
      isAsked = true;
      await answerBallot(desk, call);
    }
    return Object.keys(TASKS).every((id) => fs.existsSync(path.join(desk, 'results', `${id}.md`)));
  });
}

/** The first worker that is seen to work on a task, and the task. */
async function claimant(stage: Stage): Promise<{ machine: Machine; task: string } | undefined> {
  let found: { machine: Machine; task: string } | undefined;
  await until(stage, async () => {
    const { peers } = await ask<{ peers: { id: string; pid: number }[] }>(stage, 'top');
    for (const name of fs.readdirSync(path.join(stage.desk, 'tasks/active'))) {
      const peer = peers.find(({ id }) => name.endsWith(`-${id}.json`));
      const machine = stage.machines.find(({ child }) => child.pid === peer?.pid);
      if (machine !== undefined) found = { machine, task: name.split('_')[0]! };
    }
    return found !== undefined;
  });
  return found;
}

/** Runs a command at the desk and reads its JSON output. */
async function ask<T>({ desk, env }: Stage, ...words: string[]): Promise<T> {
  const args = [process.argv[1]!, ...words, '--json', '--workspace', desk];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as T;
}

async function until({ signal, machines }: Stage, isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!signal.aborted && !(await isSo())) {
    const gone = machines.find(({ child }) => child.exitCode !== null);
    if (gone !== undefined)
      throw problemError('bug', `${gone.name} ended before the story did`, { hint: `see ${gone.root}.log` });
    await sleep(INTERVALS.folderCheckMs, undefined, { signal }).catch(() => undefined);
  }
}

async function showEnd(stage: Stage, plain: string): Promise<number> {
  const { call, desk, env, machines } = stage;
  const { terminal, json } = call;
  const results = Object.fromEntries(
    Object.keys(TASKS).map((id) => [id, fs.readFileSync(path.join(desk, 'results', `${id}.md`), 'utf8')]),
  );
  const left = machines.filter(({ name }) => name !== 'desk').map(({ name }) => name);
  await ended(machines.splice(0));
  await promisify(execFile)(process.execPath, [process.argv[1]!, 'store', 'pull', plain, '--workspace', desk], { env });
  if (json) terminal.json({ desk, plain, left, results: Object.keys(results) });
  else {
    terminal.say(`\n${terminal.bold('The results')} ${terminal.dim(path.join(desk, 'results'))}`);
    for (const id of Object.keys(results)) terminal.out(id);
  }
  terminal.say(`\nNothing was lost: ${left.join(' and ')} did the work of the one that was killed.`);
  terminal.say(
    terminal.dim(`The same as a plain workspace on files: ${plain} (guild store pull). The ballot was desk/${BALLOT}.`),
  );
  return EXIT.done;
}

async function ended(machines: readonly Machine[]): Promise<void> {
  for (const { child } of machines) if (child.exitCode === null) child.kill('SIGINT');
  await Promise.all(machines.map(({ ended }) => ended));
}
