/** 50 processes that each host one agent, in a workspace where nothing happens: their share of a core together, and that no model is asked. */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { guildScript } from './cli.js';
import { modelChild } from './model.js';
import { atMost, type Bench } from './table.js';
import { layWorkspace, put } from './workspace.js';

const PEERS = Number(process.env['PEERS'] ?? 50);
const SECONDS = 60;
/** In its first two and a half minutes V8 gives back what a start has used: that belongs to the start. */
const TIDY_MS = 215_000;

export const swarm: Bench = {
  name: 'idle swarm',
  async run(bed) {
    const model = await modelChild();
    const root = layWorkspace(bed.folder('swarm'), { url: model.url });
    const names = Array.from({ length: PEERS }, (_, i) => `peer-${i}`);
    for (const name of names) put(root, `agents/${name}.md`, `---\ndescription: Is ${name}\n---\nYou are ${name}.\n`);
    const script = guildScript(bed.folder('bin'));
    const children: ChildProcess[] = [];
    try {
      for (const name of names) {
        children.push(
          spawn(process.execPath, [script, 'agent', 'start', name, '--workspace', root], { stdio: 'ignore' }),
        );
        await sleep(300); // they are started by hand, in as many terminals
      }
      await sleep(TIDY_MS);
      await settled(root);
      const before = total(children);
      await sleep(SECONDS * 1000);
      const used = total(children) - before;
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

/** All have started and heard of each other: the registry has been as it is for a while. */
async function settled(root: string): Promise<void> {
  const file = `${root}/agents/registry.json`;
  const age = (): number => (fs.existsSync(file) ? Date.now() - fs.statSync(file).mtimeMs : 0);
  for (let seconds = 0; seconds < 300 && age() < 30_000; seconds++) await sleep(1000);
}

/** User and system time of all, in ticks of 10 ms for each. */
function total(children: readonly ChildProcess[]): number {
  return children.reduce((sum, child) => {
    const stat = fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sum + (Number(fields[11]) + Number(fields[12])) / 100;
  }, 0);
}
