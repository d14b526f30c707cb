/**
 * 100,000 tasks an hour for some minutes (`--sustain`), and 50 processes at once. Memory and
 * processor time at the end are compared with those after the start.
 */
import fs from 'node:fs';
import { openWorkspace, type Workspace } from '../../src/app/index.js';
import { atMost, atMostTimes, figure, median, without, type Bench, type Row } from '../harness/rows.js';
import { cpuMsOf, farPlace, type FarPlace } from './place.js';
import { addTasks, startWorkers } from './workers.js';

const SCRIPT = '- { agent: ana, turn: 1, wait: 300ms, say: "done" }\n';
const MISSING = 'PostgreSQL is not installed';
const TASKS_A_SECOND = 100_000 / 3600;
const WORKERS = 3;
const CROWD = 50;
/** Of each process. */
const CONNECTIONS = 2;
const CALCULATED = 300;

export const farSustained: Bench = {
  name: 'far sustained',
  minutes: 2,
  async run(testbed) {
    const far = await farPlace(testbed, SCRIPT);
    if (far === undefined) return [without('far: 100,000 tasks an hour', MISSING)];
    const reader = await openWorkspace(far.root, { env: far.env, agents: [] });
    const workers = startWorkers(testbed.build.guild, far, WORKERS);
    try {
      return await sustain(reader, far, workers.pids, testbed.sustainMinutes);
    } finally {
      await workers.stop();
      await reader.close();
      await far.close();
    }
  },
};

interface Window {
  memoryMb: number;
  cpuMs: number;
  /** From the addition of a task to its end. */
  taskMs: number;
}

/** Sixths of the time. The first one is not compared, because processes start and caches fill. */
const WINDOWS = 6;

async function sustain(reader: Workspace, far: FarPlace, pids: number[], minutes: number): Promise<Row[]> {
  const windows: Window[] = [];
  const seconds = Math.ceil((minutes * 60) / WINDOWS);
  for (let window = 0; window < WINDOWS; window++) windows.push(await oneWindow(reader, far, pids, seconds));
  while ((await reader.openTasks()).length > 0) await sleep(50);
  const [early, late] = [windows[1]!, windows.at(-1)!];
  const over = `${minutes} min of 100,000 tasks an hour`;
  return [
    atMostTimes(`far: memory of a worker at the end of ${over}`, late.memoryMb, early.memoryMb, 'MB', 1.25),
    atMostTimes(`far: processor time of a task at the end of ${over}`, late.cpuMs, early.cpuMs, 'ms', 1.25),
    atMostTimes(`far: from addition to end of a task (300 ms model), ${over}`, late.taskMs, early.taskMs, 'ms', 1.25),
  ];
}

async function oneWindow(reader: Workspace, far: FarPlace, pids: number[], seconds: number): Promise<Window> {
  const all = [...pids, ...far.pids()];
  const [cpuMs, from] = [cpuMsOf(all), performance.now()];
  const waits: Promise<number>[] = [];
  let added = 0;
  for (let elapsed = 0; elapsed < seconds * 1000; elapsed = performance.now() - from) {
    for (; added < (elapsed / 1000) * TASKS_A_SECOND; added++) {
      const start = performance.now();
      const task = await reader.add({ description: `Task ${added}`, to: 'ana' });
      // One task in twenty is followed until it ends.
      if (added % 20 === 0) waits.push(reader.finish(task.id).then(() => performance.now() - start));
    }
    await sleep(20);
  }
  const cpu = (cpuMsOf(all) - cpuMs) / added;
  return { memoryMb: median(pids.map(memoryMbOf)), cpuMs: cpu, taskMs: median(await Promise.all(waits)) };
}

export const farCrowd: Bench = {
  name: 'far crowd',
  minutes: 2,
  async run(testbed) {
    const far = await farPlace(testbed, SCRIPT);
    if (far === undefined) return [without('far: 50 processes', MISSING)];
    const reader = await openWorkspace(far.root, { env: far.env, agents: [] });
    const count = testbed.scale(CROWD, 5);
    const workers = startWorkers(testbed.build.guild, far, count);
    try {
      while ((await connections(far)) < count * CONNECTIONS) await sleep(100);
      const tasks = testbed.scale(400, 40);
      const [cpuMs, from] = [cpuMsOf(far.pids()), performance.now()];
      await addTasks(reader, tasks);
      while ((await reader.openTasks()).length > 0) await sleep(20);
      const [ms, perTask] = [performance.now() - from, (cpuMsOf(far.pids()) - cpuMs) / tasks];
      const share = (perTask * TASKS_A_SECOND * (CALCULATED / count)) / 1000;
      return [
        figure(`far: tasks by ${count} processes, 300 ms model`, (tasks / ms) * 1000, 'tasks/s'),
        figure(`far: the server's processor time of a task beside ${count} processes`, perTask, 'ms'),
        atMost(
          `far: cores of the server for ${CALCULATED} processes (calculated), 100,000 tasks an hour`,
          share,
          '',
          2,
        ),
      ];
    } finally {
      await workers.stop();
      await reader.close();
      await far.close();
    }
  },
};

/** A process that has no work yet is connected, but is not among the peers. */
async function connections({ client }: FarPlace): Promise<number> {
  const text = `select count(*)::int as count from pg_stat_activity where application_name = 'guildhall'`;
  return ((await client.query(text)).rows[0] as { count: number }).count;
}

function memoryMbOf(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb ?? 0) / 1024;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
