/**
 * 50 processes that each host one agent of an idle workspace: their combined share of a core and
 * their model calls.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { guildScript } from '../harness/guild-script.js';
import { startModelServer } from '../harness/model-server.js';
import { atMost, type Bench } from '../harness/rows.js';
import { writeWorkspace, writeFile } from '../harness/workspace.js';

const PEERS = Number(process.env['PEERS'] ?? 50);
const SECONDS = 60;
/** V8 returns the memory of the start-up over the first minutes; that is not idle time. */
const STARTUP_MS = 215_000;

export const idleSwarm: Bench = {
  name: 'idle swarm',
  async run(testbed) {
    const model = await startModelServer();
    const root = writeWorkspace(testbed.folder('swarm'), { url: model.url });
    const names = Array.from({ length: PEERS }, (_, i) => `peer-${i}`);
    for (const name of names)
      writeFile(root, `agents/${name}.md`, `---\ndescription: Is ${name}\n---\nYou are ${name}.\n`);
    const script = guildScript(testbed.folder('bin'));
    const children: ChildProcess[] = [];
    try {
      for (const name of names) {
        children.push(
          spawn(process.execPath, [script, 'agent', 'start', name, '--workspace', root], { stdio: 'ignore' }),
        );
        await sleep(300); // as if started by hand in separate terminals
      }
      await sleep(STARTUP_MS);
      await registryUnchanged(root);
      const before = cpuSeconds(children);
      await sleep(SECONDS * 1000);
      const used = cpuSeconds(children) - before;
      const calls = await model.count();
      return [
        atMost(`idle swarm of ${PEERS} processes: share of a core, together`, (100 * used) / SECONDS, '%', 1),
        { name: 'idle swarm: model calls', ours: calls, unit: '', compared: '', target: '0', met: calls === 0 },
      ];
    } finally {
      for (const child of children) child.kill('SIGKILL');
      model.close();
    }
  },
};

/** Waits until the registry is unchanged for 30 s: all processes have discovered each other. */
async function registryUnchanged(root: string): Promise<void> {
  const file = `${root}/agents/registry.json`;
  const age = (): number => (fs.existsSync(file) ? Date.now() - fs.statSync(file).mtimeMs : 0);
  for (let seconds = 0; seconds < 300 && age() < 30_000; seconds++) await sleep(1000);
}

/** User and system time of all processes, counted in ticks of 10 ms. */
function cpuSeconds(children: readonly ChildProcess[]): number {
  return children.reduce((sum, child) => {
    const stat = fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}
