/** `guild watch` on an idle workspace of 10,000 files: its share of a core and its model calls. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { guildScript } from '../harness/guild-script.js';
import { startModelServer } from '../harness/model-server.js';
import { atMost, type Bench } from '../harness/rows.js';
import { dropTasks, writeWorkspace, writeFile } from '../harness/workspace.js';

const SECONDS = 20;

export const idleWatch: Bench = {
  name: 'idle watch',
  async run(testbed) {
    const model = await startModelServer();
    const root = writeWorkspace(testbed.folder('idle'), { url: model.url });
    dropTasks(root, 500, { to: 'human' });
    for (let n = 0; n < 9500; n++)
      writeFile(root, `${PREFIXES[n % PREFIXES.length]}${n}.${n % 2 ? 'json' : 'md'}`, '{"description":"x"}\n');
    const child = spawn(process.execPath, [guildScript(testbed.folder('bin')), 'watch', '--workspace', root], {
      stdio: 'ignore',
    });
    await sleep(12_000); // until the start-up and its garbage collections are over
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

const PREFIXES = ['memory/a/', 'results/r-', 'context/b/', 'tasks/completed/c-', 'workspaces/reader/'];

/** User and system time, counted in ticks of 10 ms: accurate to about 0.1 % of a core here. */
function cpuSeconds(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
