/** 1, 2 and 8 processes claim from 3,000 pending tasks, against processes that only rename. Each task must be won once. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atLeastPart, median, type Bench, type Row } from './table.js';
import { dropTasks, layWorkspace } from './workspace.js';

const TASKS = 3000;

export const claims: Bench = {
  name: 'claims',
  async run(bed) {
    const rows: Row[] = [];
    for (const processes of [1, 2, 8]) {
      const ours: number[] = [];
      const raw: number[] = [];
      for (let round = 0; round < bed.rounds(3); round++) {
        for (const [kind, rates] of [
          ['raw', raw],
          ['ours', ours],
        ] as const) {
          const root = layWorkspace(bed.folder('claims'));
          dropTasks(root, TASKS);
          rates.push(await race(kind, root, processes));
        }
      }
      const name = `claims by ${processes} ${processes === 1 ? 'process' : 'processes'}`;
      rows.push(atLeastPart(name, median(ours), median(raw), '/s', 0.5));
    }
    return rows;
  },
};

interface Raced {
  from: number;
  to: number;
  won: number;
}

async function race(kind: string, root: string, processes: number): Promise<number> {
  const file = fileURLToPath(new URL('claim-child.js', import.meta.url));
  const children = Array.from({ length: processes }, (_, at) => fork(file, [kind, root, String(at / processes)]));
  await Promise.all(children.map((child) => once(child, 'message')));
  const ends = children.map(async (child) => (await once(child, 'message'))[0] as Raced);
  for (const child of children) child.send('go');
  const done = await Promise.all(ends);
  const won = done.reduce((total, one) => total + one.won, 0);
  if (won !== TASKS) throw new Error(`${TASKS} tasks were won ${won} times`);
  const ms = Math.max(...done.map((one) => one.to)) - Math.min(...done.map((one) => one.from));
  return TASKS / (ms / 1000);
}
