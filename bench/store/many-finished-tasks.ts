/** A pass over 200 open tasks, without finished tasks and with 100,000 of them on disk. */
import { openWorkspace } from '../../src/app/index.js';
import { atMostTimes, median, type Bench } from '../harness/rows.js';
import { dropTasks, writeWorkspace, writeFile } from '../harness/workspace.js';

const FINISHED = 100_000;

export const manyFinishedTasks: Bench = {
  name: 'finished tasks',
  async run(testbed) {
    const few = writeWorkspace(testbed.folder('few'));
    const lots = writeWorkspace(testbed.folder('lots'));
    for (const root of [few, lots]) dropTasks(root, 200, { to: 'human' });
    const record = { description: 'Which runtime do we use?', to: 'reader', result: 'podman', version: 1 };
    for (let n = 0; n < FINISHED; n++) writeFile(lots, `tasks/completed/old-${n}.json`, JSON.stringify(record));
    const places = await Promise.all(
      [few, lots].map(async (root) => ({ workspace: await openWorkspace(root), ms: [] as number[] })),
    );
    for (let round = 0; round < testbed.rounds(60); round++) {
      for (const { workspace, ms } of places) {
        const from = performance.now();
        await workspace.pump();
        if (round >= 10) ms.push(performance.now() - from);
      }
    }
    for (const { workspace } of places) await workspace.close();
    return [
      atMostTimes('a pass beside 100,000 finished tasks', median(places[1]!.ms), median(places[0]!.ms), 'ms', 1.25),
    ];
  },
};
