/** `guild watch` on an idle workspace of 10,000 files: its share of a core and its model calls. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench } from '../harness/rows.js';
import { threadsCpuMs } from '../harness/usage.js';
import { dropTasks, writeWorkspace, writeFile } from '../harness/workspace.js';

const SECONDS = 20;

export const idleWatch: Bench = {
  name: 'idle watch',
  async run(testbed) {
    const { model } = testbed;
    const callsBefore = (await model.served()).calls;
    const root = writeWorkspace(testbed.folder('idle'), { url: model.url });
    dropTasks(root, 500, { to: 'human' });
    for (let n = 0; n < 9500; n++)
      writeFile(root, `${PREFIXES[n % PREFIXES.length]}${n}.${n % 2 ? 'json' : 'md'}`, '{"description":"x"}\n');
    const child = spawn(process.execPath, [testbed.build.guild, 'watch', '--workspace', root], {
      stdio: 'ignore',
    });
    await sleep(12_000); // until the start-up and its garbage collections are over
    const before = threadsCpuMs(child.pid!);
    await sleep(SECONDS * 1000);
    const used = threadsCpuMs(child.pid!) - before;
    child.kill('SIGKILL');
    const calls = (await model.served()).calls - callsBefore;
    return [
      atMost('idle watch on 10,000 files: share of a core', used / 10 / SECONDS, '%', 0.5),
      { name: 'idle watch: model calls', ours: calls, unit: '', compared: '', target: '0', met: calls === 0 },
    ];
  },
};

const PREFIXES = ['memory/a/', 'results/r-', 'context/b/', 'tasks/completed/c-', 'workspaces/reader/'];
