/**
 * 1, 2 and 8 processes claim 3,000 pending tasks, against processes that only rename the files.
 * Each task must be claimed exactly once.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atLeastShare, median, type Bench, type Row } from '../harness/rows.js';
import { dropTasks, writeWorkspace } from '../harness/workspace.js';

const TASKS = 3000;

export const competingClaims: Bench = {
  name: 'claims',
  async run(testbed) {
    const rows: Row[] = [];
    for (const processes of [1, 2, 8]) {
      const ours: number[] = [];
      const raw: number[] = [];
      for (let round = 0; round < testbed.scale(3); round++) {
        for (const [kind, rates] of [
          ['raw', raw],
          ['ours', ours],
        ] as const) {
          const root = writeWorkspace(testbed.folder('claims'));
          dropTasks(root, TASKS);
          rates.push(await race(kind, root, processes));
        }
      }
      const name = `claims by ${processes} ${processes === 1 ? 'process' : 'processes'}`;
      rows.push(atLeastShare(name, median(ours), median(raw), '/s', 0.5));
    }
    return rows;
  },
};

interface RaceResult {
  from: number;
  to: number;
  won: number;
}

async function race(kind: string, root: string, processes: number): Promise<number> {
  const file = fileURLToPath(new URL('competing-claims-child.js', import.meta.url));
  const children = Array.from({ length: processes }, (_, at) => fork(file, [kind, root, String(at / processes)]));
  await Promise.all(children.map((child) => once(child, 'message')));
  const ends = children.map(async (child) => (await once(child, 'message'))[0] as RaceResult);
  for (const child of children) child.send('go');
  const results = await Promise.all(ends);
  const won = results.reduce((total, result) => total + result.won, 0);
  if (won !== TASKS) throw new Error(`${TASKS} tasks were claimed ${won} times`);
  const ms = Math.max(...results.map(({ to }) => to)) - Math.min(...results.map(({ from }) => from));
  return TASKS / (ms / 1000);
}
