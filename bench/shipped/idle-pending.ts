/** An idle `guild watch` beside 10,000 pending tasks of a paused agent: its share of a core. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Build } from '../harness/builds.js';
import { against, atMost, type Bench, type Testbed } from '../harness/rows.js';
import { guild, shippedWorkspace } from '../harness/shipped-workspace.js';
import { builds } from '../harness/subjects.js';
import { threadsCpuMs } from '../harness/usage.js';
import { AGENT, dropTasks } from '../harness/workspace.js';

const TASKS = 10_000;
const QUICK_TASKS = 1000;
const MAX_PERCENT = 0.2;
/** The start-up, and history that begins a minute later, are not idle. */
const SETTLE_MS = 100_000;
const SECONDS = 60;

export const idlePending: Bench = {
  name: 'idle beside tasks',
  minutes: 3,
  async run(testbed) {
    const shares: number[] = [];
    for (const { build } of builds(testbed)) shares.push(await share(testbed, build!));
    const tasks = testbed.scale(TASKS, QUICK_TASKS).toLocaleString('en');
    const name = `idle guild watch beside ${tasks} pending tasks: share of a core`;
    return [against(atMost(name, shares[0]!, '%', MAX_PERCENT), shares[1])];
  },
};

async function share(testbed: Testbed, build: Build): Promise<number> {
  const root = shippedWorkspace(build, testbed.folder('idle'));
  guild(build, 'agent', 'pause', AGENT, '--workspace', root);
  dropTasks(root, testbed.scale(TASKS, QUICK_TASKS));
  const child = spawn(process.execPath, [build.guild, 'watch', '--quiet', '--workspace', root], { stdio: 'ignore' });
  await sleep(testbed.scale(SETTLE_MS, 3000));
  const before = threadsCpuMs(child.pid!);
  const seconds = testbed.scale(SECONDS, 3);
  await sleep(seconds * 1000);
  const used = threadsCpuMs(child.pid!) - before;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return used / 10 / seconds;
}
