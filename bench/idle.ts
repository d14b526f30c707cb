/** `guild watch` on a workspace of 10,000 files in which nothing happens: its share of a core, and that no model is asked. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { guildScript } from './cli.js';
import { modelChild } from './model.js';
import { atMost, type Bench } from './table.js';
import { dropTasks, layWorkspace, put } from './workspace.js';

const SECONDS = 20;

export const idle: Bench = {
  name: 'idle watch',
  async run(bed) {
    const model = await modelChild();
    const root = layWorkspace(bed.folder('idle'), { url: model.url });
    dropTasks(root, 500, { to: 'human' });
    for (let n = 0; n < 9500; n++)
      put(root, `${PLACES[n % PLACES.length]}${n}.${n % 2 ? 'json' : 'md'}`, '{"description":"x"}\n');
    const child = spawn(process.execPath, [guildScript(bed.folder('bin')), 'watch', '--workspace', root], {
      stdio: 'ignore',
    });
    await sleep(12_000); // started, and the garbage of starting collected
    const before = cpuSeconds(child.pid!);
    await sleep(SECONDS * 1000);
    const used = cpuSeconds(child.pid!) - before;
    child.kill('SIGKILL');
    const calls = await model.count();
    model.close();
    return [
      atMost('idle watch on 10,000 files: share of a core', (100 * used) / SECONDS, '%', 0.5),
      { name: 'idle watch: model calls', ours: calls, unit: '', compared: '', target: '0', met: calls === 0 },
    ];
  },
};

const PLACES = ['memory/a/', 'results/r-', 'context/b/', 'tasks/completed/c-', 'workspaces/reader/'];

/** User and system time in ticks of 10 ms; too coarse for less than 0.1 % here. */
function cpuSeconds(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
