/**
 * 50 processes that each host one agent of an idle workspace: their combined share of a core and
 * their model calls.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench } from '../harness/rows.js';
import { threadsCpuMs } from '../harness/usage.js';
import { writeWorkspace, writeFile } from '../harness/workspace.js';

const PEERS = Number(process.env['PEERS'] ?? 50);
const SECONDS = 60;
/** V8 returns the memory of the start-up over the first minutes; that is not idle time. */
const STARTUP_MS = 215_000;

export const idleSwarm: Bench = {
  name: 'idle swarm',
  async run(testbed) {
    const { model } = testbed;
    const callsBefore = (await model.served()).calls;
    const root = writeWorkspace(testbed.folder('swarm'), { url: model.url });
    const names = Array.from({ length: PEERS }, (_, i) => `peer-${i}`);
    for (const name of names)
      writeFile(root, `agents/${name}.md`, `---\ndescription: Is ${name}\n---\nYou are ${name}.\n`);
    const children: ChildProcess[] = [];
    try {
      for (const name of names) {
        children.push(
          spawn(process.execPath, [testbed.build.guild, 'agent', 'start', name, '--workspace', root], {
            stdio: 'ignore',
          }),
        );
        await sleep(300); // as if started by hand in separate terminals
      }
      await sleep(STARTUP_MS);
      await registryUnchanged(root);
      const before = cpuMs(children);
      await sleep(SECONDS * 1000);
      const used = cpuMs(children) - before;
      const calls = (await model.served()).calls - callsBefore;
      return [
        atMost(`idle swarm of ${PEERS} processes: share of a core, together`, used / 10 / SECONDS, '%', 1),
        { name: 'idle swarm: model calls', ours: calls, unit: '', compared: '', target: '0', met: calls === 0 },
      ];
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  },
};

/** Waits until the registry is unchanged for 30 s: all processes have discovered each other. */
async function registryUnchanged(root: string): Promise<void> {
  const file = `${root}/agents/registry.json`;
  const age = (): number => (fs.existsSync(file) ? Date.now() - fs.statSync(file).mtimeMs : 0);
  for (let seconds = 0; seconds < 300 && age() < 30_000; seconds++) await sleep(1000);
}

function cpuMs(children: readonly ChildProcess[]): number {
  return children.reduce((sum, child) => sum + threadsCpuMs(child.pid!), 0);
}
