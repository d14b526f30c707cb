/** Workers as processes of the packed build, each in its own folder. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Workspace } from '../../src/app/index.js';
import type { FarPlace } from './place.js';

interface Workers {
  pids: number[];
  stop(): Promise<void>;
}

let made = 0;

export function startWorkers(guild: string, far: FarPlace, count: number): Workers {
  const roots = Array.from({ length: count }, () => far.copy(`worker-${++made}`));
  const children = roots.map((root) =>
    spawn(process.execPath, [guild, 'watch', '--quiet', '--workspace', root], { env: far.env, stdio: 'ignore' }),
  );
  return {
    pids: children.map(({ pid }) => pid!),
    async stop() {
      const ends = children.map((child) => once(child, 'exit'));
      for (const child of children) child.kill('SIGINT');
      await Promise.all(ends);
    },
  };
}

export async function addTasks(workspace: Workspace, count: number): Promise<void> {
  const add = (_: unknown, n: number): Promise<unknown> => workspace.add({ description: `Task ${n}`, to: 'ana' });
  await Promise.all(Array.from({ length: count }, add));
}
