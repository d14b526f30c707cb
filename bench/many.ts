/** A thousand runs of two model calls and one tool at once, each durable, against a thousand raw loops; every round in fresh processes. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { modelChild } from './model.js';
import { atLeastPart, atMost, median, told, type Bench } from './table.js';
import { dropTasks, layWorkspace } from './workspace.js';

const RUNS = 1000;

export const many: Bench = {
  name: 'many runs',
  async run(bed) {
    const model = await modelChild();
    const ours: Measured[] = [];
    const raw: Measured[] = [];
    for (let round = 0; round < bed.rounds(3); round++) {
      raw.push(await child('raw', model.url));
      const root = layWorkspace(bed.folder('many'), { url: model.url, limits: { parallel: RUNS } });
      dropTasks(root, RUNS);
      ours.push(await child('ours', root));
    }
    model.close();
    const rate = (all: Measured[]): number => median(all.map((one) => one.perSecond));
    const memory = (all: Measured[]): number => median(all.map((one) => one.kbEach));
    return [
      atLeastPart('1,000 runs at once: rate', rate(ours), rate(raw), 'runs/s', 1 / 3),
      atMost('1,000 runs at once: memory a run', memory(ours), 'kB', 200),
      told('1,000 raw loops at once: memory each', memory(raw), 'kB'),
    ];
  },
};

interface Measured {
  perSecond: number;
  kbEach: number;
}

async function child(kind: string, place: string): Promise<Measured> {
  const file = fileURLToPath(new URL('many-child.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, kind, place, String(RUNS)]);
  return JSON.parse(stdout) as Measured;
}
