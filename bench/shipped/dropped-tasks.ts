/**
 * 10,000 tasks dropped into a workspace, worked off by one, two and four `guild watch` processes
 * with a scripted model. Processor time is that of the processes and their children, from start to
 * exit.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Build } from '../harness/builds.js';
import { against, atMost, atMostTimes, median, type Bench, type Row, type Testbed } from '../harness/rows.js';
import { shippedWorkspace } from '../harness/shipped-workspace.js';
import { builds } from '../harness/subjects.js';
import { reapedCpuMs } from '../harness/usage.js';
import { dropTasks } from '../harness/workspace.js';

const TASKS = 10_000;
const MAX_CPU_MS = 1;
const PROCESSES = [1, 2, 4];
/** Several processes count as slower than one only beyond this factor. */
const NOISE = 1.1;
const POLL_MS = 50;
const TIMEOUT_MS = 15 * 60_000;

interface Drained {
  seconds: number;
  cpuMs: number;
}

export const droppedTasks: Bench = {
  name: 'dropped tasks',
  minutes: 2,
  async run(testbed) {
    const tasks = testbed.scale(TASKS, 500);
    const measured = PROCESSES.map(() => builds(testbed).map(() => [] as Drained[]));
    for (let round = 0; round < Math.ceil(testbed.rounds / 3); round++)
      for (const [row, processes] of PROCESSES.entries())
        for (const [column, { build }] of builds(testbed).entries())
          measured[row]![column]!.push(await drain(testbed, build!, tasks, processes));
    return PROCESSES.flatMap((processes, at) => rows(tasks, processes, measured[at]!, measured[0]![0]!));
  },
};

function rows(tasks: number, processes: number, [ours, older]: Drained[][], single: Drained[]): Row[] {
  const seconds = (rounds: Drained[]): number => median(rounds.map((round) => round.seconds));
  const cpuMs = (rounds: Drained[]): number => median(rounds.map((round) => round.cpuMs));
  const name = `${tasks.toLocaleString('en')} dropped tasks, ${processes} ${processes === 1 ? 'process' : 'processes'}`;
  const perTask =
    processes === 1
      ? atMost(`${name}: processor time per task`, cpuMs(ours!), 'ms', MAX_CPU_MS)
      : { name: `${name}: processor time per task`, ours: cpuMs(ours!), unit: 'ms', compared: '' };
  const whole: Row =
    processes === 1
      ? { name: `${name}: until all are done`, ours: seconds(ours!), unit: 's', compared: '' }
      : {
          ...atMostTimes(`${name}: until all are done`, seconds(ours!), seconds(single), 's', NOISE),
          target: 'no slower than one',
        };
  return [against(perTask, older && cpuMs(older)), against(whole, older && seconds(older))];
}

async function drain(testbed: Testbed, build: Build, tasks: number, processes: number): Promise<Drained> {
  const root = shippedWorkspace(build, testbed.folder('dropped'));
  dropTasks(root, tasks);
  const cpuBefore = reapedCpuMs();
  const from = performance.now();
  const watchers = Array.from({ length: processes }, () =>
    spawn(process.execPath, [build.guild, 'watch', '--quiet', '--workspace', root], { stdio: 'ignore' }),
  );
  await untilDone(root, tasks, watchers, from);
  const seconds = (performance.now() - from) / 1000;
  const ended = watchers.map((child) => once(child, 'exit'));
  for (const child of watchers) child.kill('SIGINT');
  await Promise.all(ended);
  return { seconds, cpuMs: (reapedCpuMs() - cpuBefore) / tasks };
}

/** Counts the ended tasks only when no open one is left: listing them costs time. */
async function untilDone(root: string, tasks: number, watchers: ChildProcess[], from: number): Promise<void> {
  const names = (state: string): string[] => {
    const folder = path.join(root, 'tasks', state);
    return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  };
  for (;;) {
    await sleep(POLL_MS);
    if (performance.now() - from > TIMEOUT_MS) throw new Error('the dropped tasks were not done in time');
    const died = watchers.find((child) => child.exitCode !== null);
    if (died) throw new Error(`guild watch exited with ${died.exitCode}`);
    if (['pending', 'active', 'waiting'].some((state) => names(state).length > 0)) continue;
    if (names('failed').length > 0) throw new Error(`${names('failed').length} dropped tasks failed`);
    if (names('completed').length === tasks) return;
  }
}
