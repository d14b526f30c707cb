/** 1, 2 and 8 processes claim from 3,000 pending tasks, against processes that only rename. Each task must be won once. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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
      for (let round = 0; round < bed.rounds(5); round++) {
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

async function race(kind: string, root: string, processes: number): Promise<number> {
  const file = fileURLToPath(new URL('claim-child.js', import.meta.url));
  const start = Date.now() + 1000 + processes * 500;
  const done = await Promise.all(
    Array.from({ length: processes }, async (_, at) => {
      const args = [file, kind, root, String(start), String(at / processes)];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      return JSON.parse(stdout) as { from: number; to: number; won: number };
    }),
  );
  const won = done.reduce((total, one) => total + one.won, 0);
  if (won !== TASKS) throw new Error(`${TASKS} tasks were won ${won} times`);
  const ms = Math.max(...done.map((one) => one.to)) - Math.min(...done.map((one) => one.from));
  return TASKS / (ms / 1000);
}
