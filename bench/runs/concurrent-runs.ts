/**
 * A thousand concurrent durable runs, each with two model calls and one tool call, against a
 * thousand raw loops. Every round starts new processes.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startModelServer } from '../harness/model-server.js';
import { atLeastShare, atMost, median, figure, type Bench } from '../harness/rows.js';
import { dropTasks, writeWorkspace } from '../harness/workspace.js';

const RUNS = 1000;

export const concurrentRuns: Bench = {
  name: 'many runs',
  async run(testbed) {
    const model = await startModelServer();
    const ours: Measured[] = [];
    const raw: Measured[] = [];
    for (let round = 0; round < testbed.rounds(3); round++) {
      raw.push(await child('raw', model.url));
      const root = writeWorkspace(testbed.folder('many'), { url: model.url, limits: { parallel: RUNS } });
      dropTasks(root, RUNS);
      ours.push(await child('ours', root));
    }
    model.close();
    const rate = (rounds: Measured[]): number => median(rounds.map(({ perSecond }) => perSecond));
    const memory = (rounds: Measured[]): number => median(rounds.map(({ kbEach }) => kbEach));
    return [
      atLeastShare('1,000 runs at once: rate', rate(ours), rate(raw), 'runs/s', 1 / 3),
      atMost('1,000 runs at once: memory per run', memory(ours), 'kB', 200),
      figure('1,000 raw loops at once: memory each', memory(raw), 'kB'),
    ];
  },
};

interface Measured {
  perSecond: number;
  kbEach: number;
}

async function child(kind: string, rootOrUrl: string): Promise<Measured> {
  const file = fileURLToPath(new URL('concurrent-runs-child.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, kind, rootOrUrl, String(RUNS)]);
  return JSON.parse(stdout) as Measured;
}
