/** Runs on PostgreSQL next to files and to bare commits, and what one task costs the processor. */
import { openWorkspace, type Workspace } from '../../src/app/index.js';
import { atLeastShare, atMost, atMostOver, figure, median, without, type Bench, type Row } from '../harness/rows.js';
import { cpuMsOf, farPlace, nearFolder, type FarPlace } from './place.js';
import { addTasks, startWorkers } from './workers.js';

const INSTANT = '- { agent: ana, turn: 1, say: "done" }\n';
const SLOW = '- { agent: ana, turn: 1, wait: 300ms, say: "done" }\n';
const MISSING = 'PostgreSQL is not installed';

export const farRuns: Bench = {
  name: 'far runs',
  async run(testbed) {
    const far = await farPlace(testbed, INSTANT);
    if (far === undefined) return [without('far: one run', MISSING)];
    const near = nearFolder(testbed, INSTANT);
    const [there, here] = [
      await openWorkspace(far.root, { env: far.env }),
      await openWorkspace(near.root, { env: near.env, history: false }),
    ];
    try {
      await far.client.query('create table raw(id serial primary key, text text)');
      const times: Record<'far' | 'near' | 'raw', number[]> = { far: [], near: [], raw: [] };
      for (let round = 0; round < testbed.scale(120, 20); round++) {
        times.near.push(await timed(() => here.run('ana', 'Do it')));
        times.far.push(await timed(() => there.run('ana', 'Do it')));
        times.raw.push(await timed(() => far.client.query('insert into raw(text) values ($1)', ['x'.repeat(750)])));
      }
      return [
        atMostOver('far: one run, over one bare commit', median(times.far), median(times.raw), 'ms', 4),
        figure('far: one run, next to files', median(times.far), 'ms', median(times.near)),
        ...(await cpuRows(there, far, testbed.scale(1000, 100))),
      ];
    } finally {
      await there.close();
      await here.close();
      await far.close();
    }
  },
};

/** Worker and server together; the server's background processes are counted too. */
async function cpuRows(workspace: Workspace, far: FarPlace, tasks: number): Promise<Row[]> {
  const pids = [process.pid, ...far.pids()];
  await addTasks(workspace, tasks);
  const [cpuMs, from] = [cpuMsOf(pids), performance.now()];
  await workspace.pumpUntilQuiet();
  const ms = performance.now() - from;
  return [
    atMost('far: processor time of a task, worker and server', (cpuMsOf(pids) - cpuMs) / tasks, 'ms', 2.5),
    figure('far: tasks by one process, instant model', (tasks / ms) * 1000, 'tasks/s'),
  ];
}

export const farWorkers: Bench = {
  name: 'far workers',
  async run(testbed) {
    const far = await farPlace(testbed, SLOW);
    if (far === undefined) return [without('far: three workers', MISSING)];
    const tasks = testbed.scale(480, 96);
    const reader = await openWorkspace(far.root, { env: far.env, agents: [] });
    try {
      const [three, one] = [
        await rate(testbed.build.guild, far, reader, 3, tasks),
        await rate(testbed.build.guild, far, reader, 1, tasks),
      ];
      return [atLeastShare('far: three workers, 300 ms model, 16 at once, over one', three, one, 'tasks/s', 2.5)];
    } finally {
      await reader.close();
      await far.close();
    }
  },
};

async function rate(guild: string, far: FarPlace, reader: Workspace, count: number, tasks: number): Promise<number> {
  const workers = startWorkers(guild, far, count);
  // A task for each process, so that starting them is not part of the figure.
  await done(reader, count * 16);
  const from = performance.now();
  await done(reader, tasks);
  const ms = performance.now() - from;
  await workers.stop();
  return (tasks / ms) * 1000;
}

/** Adds tasks at once, as a busy desk does, and waits for their ends. */
async function done(workspace: Workspace, tasks: number): Promise<void> {
  await addTasks(workspace, tasks);
  while ((await workspace.openTasks()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}
