/** One run: two model calls and one tool, from claim to settled result, durable on disk, over a raw fetch loop of the same two calls. */
import fs from 'node:fs';
import path from 'node:path';
import { openWorkspace } from '../src/app/index.js';
import { modelChild, rawRun } from './model.js';
import { atMostOver, bestTenth, median, told, type Bench } from './table.js';
import { AGENT, layWorkspace } from './workspace.js';

const MOST_MS = 6;

export const oneRun: Bench = {
  name: 'one run',
  async run(bed) {
    const model = await modelChild();
    const root = layWorkspace(bed.folder('run'), { url: model.url });
    let claimed = 0;
    let settled = 0;
    const workspace = await openWorkspace(root, {
      watchers: {
        event({ name }) {
          if (name === 'task.claimed') claimed = performance.now();
          if (name === 'task.completed') settled = performance.now();
        },
      },
    });
    const readFacts = (): string => fs.readFileSync(path.join(root, 'memory/facts.md'), 'utf8');
    const raw: number[] = [];
    const ours: number[] = [];
    const whole: number[] = [];
    const rounds = bed.rounds(120);
    const warmUp = 40;
    for (let round = 0; round < warmUp + rounds; round++) {
      const before = performance.now();
      await rawRun(model.url, readFacts);
      const rawMs = performance.now() - before;
      const task = await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
      const from = performance.now();
      const placed = await workspace.finish(task.id);
      const wholeMs = performance.now() - from;
      if (placed.state !== 'completed') throw new Error(`it ended as ${placed.state}: ${placed.task.error?.message}`);
      if (round < warmUp) continue;
      raw.push(rawMs);
      ours.push(settled - claimed);
      whole.push(wholeMs);
    }
    await workspace.close();
    model.close();
    return [
      atMostOver('one run: claim to settled', median(ours), median(raw), 'ms', MOST_MS),
      told('… the best tenth of the rounds', bestTenth(ours), 'ms', bestTenth(raw)),
      told('one run: with the passes around it', median(whole), 'ms', median(raw)),
    ];
  },
};
