/** Listing what is ready among 10,000 open tasks, of which one in ten waits for another. */
import fs from 'node:fs';
import path from 'node:path';
import { openReader } from '../src/app/readers/open-reader.js';
import { mayMove } from '../src/rules/scheduling/ready.js';
import { atMost, median, told, type Bench } from './table.js';
import { dropTasks, layWorkspace } from './workspace.js';

const TASKS = 10_000;

export const listing: Bench = {
  name: 'listing',
  async run(bed) {
    const root = layWorkspace(bed.folder('listing'));
    const ids = dropTasks(root, TASKS);
    for (const id of ids.slice(0, TASKS / 10)) {
      const file = path.join(root, 'tasks/pending', `${id}.json`);
      fs.writeFileSync(file, JSON.stringify({ description: 'after another', dependencies: [ids.at(-1)] }));
    }
    const store = openReader(root);
    const cold = performance.now();
    await store.tasks.scan(true);
    const coldMs = performance.now() - cold;
    const warm: number[] = [];
    const full: number[] = [];
    for (let round = 0; round < bed.rounds(21); round++) {
      for (const [times, all] of [
        [warm, false],
        [full, true],
      ] as const) {
        const from = performance.now();
        await store.tasks.scan(all);
        let ready = 0;
        const now = new Date().toISOString();
        for (const { task, state } of store.tasks.open()) if (mayMove(task, state, store.tasks.isOpen, now)) ready++;
        times.push(performance.now() - from);
        if (ready !== TASKS * 0.9) throw new Error(`${ready} are ready`);
      }
    }
    await store.close();
    return [
      atMost('ready work among 10,000 open tasks, warm', median(warm), 'ms', 30),
      told('… comparing every file (every 3 s)', median(full), 'ms'),
      told('… read for the first time', coldMs, 'ms'),
    ];
  },
};
