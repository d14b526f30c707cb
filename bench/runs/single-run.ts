/**
 * One run with two model calls and one tool call, from the claim to the durable result, against a
 * raw fetch loop that makes the same two calls.
 */
import fs from 'node:fs';
import path from 'node:path';
import { openWorkspace } from '../../src/app/index.js';
import { startModelServer, rawRun } from '../harness/model-server.js';
import { atMostOver, bestTenth, median, figure, type Bench } from '../harness/rows.js';
import { AGENT, writeWorkspace } from '../harness/workspace.js';

const MAX_OVERHEAD_MS = 6;

export const singleRun: Bench = {
  name: 'one run',
  async run(testbed) {
    const model = await startModelServer();
    const root = writeWorkspace(testbed.folder('run'), { url: model.url });
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
    const withPasses: number[] = [];
    const rounds = testbed.rounds(120);
    const warmUp = 40;
    for (let round = 0; round < warmUp + rounds; round++) {
      const before = performance.now();
      await rawRun(model.url, readFacts);
      const rawMs = performance.now() - before;
      const task = await workspace.add({ description: 'Which runtime do we use?', to: AGENT });
      const from = performance.now();
      const placed = await workspace.finish(task.id);
      const withPassesMs = performance.now() - from;
      if (placed.state !== 'completed')
        throw new Error(`the task ended as ${placed.state}: ${placed.task.error?.message}`);
      if (round < warmUp) continue;
      raw.push(rawMs);
      ours.push(settled - claimed);
      withPasses.push(withPassesMs);
    }
    await workspace.close();
    model.close();
    return [
      atMostOver('one run: claim to settled', median(ours), median(raw), 'ms', MAX_OVERHEAD_MS),
      figure('… the best tenth of the rounds', bestTenth(ours), 'ms', bestTenth(raw)),
      figure('one run: with the passes around it', median(withPasses), 'ms', median(raw)),
    ];
  },
};
