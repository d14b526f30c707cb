/** A pump without work next to 10,000 finished tasks. Baseline: listing the open-task folders. */
import fs from 'node:fs';
import path from 'node:path';
import { openWorkspace } from '../../src/app/index.js';
import { atMost, median, figure, type Bench } from '../harness/rows.js';
import { writeWorkspace, writeFile } from '../harness/workspace.js';

const FINISHED = 10_000;

export const idlePump: Bench = {
  name: 'quiet pump',
  async run(testbed) {
    const root = writeWorkspace(testbed.folder('quiet'));
    const record = { description: 'Which runtime do we use?', to: 'reader', result: 'podman', version: 1 };
    for (let n = 0; n < FINISHED; n++) writeFile(root, `tasks/completed/old-${n}.json`, JSON.stringify(record));
    const workspace = await openWorkspace(root);
    const ours: number[] = [];
    const raw: number[] = [];
    for (let round = 0; round < testbed.scale(60); round++) {
      let from = performance.now();
      for (const state of ['pending', 'active', 'waiting']) fs.readdirSync(path.join(root, 'tasks', state));
      raw.push(performance.now() - from);
      from = performance.now();
      await workspace.pump();
      if (round >= 10) ours.push(performance.now() - from);
    }
    await workspace.close();
    return [
      atMost(`a pump with nothing to do beside ${FINISHED} finished tasks`, median(ours), 'ms', 30),
      figure('… listing the folders of open work', median(raw), 'ms'),
    ];
  },
};
