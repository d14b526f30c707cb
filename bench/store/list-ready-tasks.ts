/** Listing the ready tasks among 10,000 open tasks, of which one in ten waits for another. */
import fs from 'node:fs';
import path from 'node:path';
import { openReader } from '../../src/app/readers/open-reader.js';
import { mayMove } from '../../src/rules/scheduling/ready.js';
import { atMost, median, figure, type Bench } from '../harness/rows.js';
import { dropTasks, writeWorkspace } from '../harness/workspace.js';

const TASKS = 10_000;

export const listReadyTasks: Bench = {
  name: 'listing',
  async run(testbed) {
    const root = writeWorkspace(testbed.folder('listing'));
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
    for (let round = 0; round < testbed.scale(21); round++) {
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
        if (ready !== TASKS * 0.9) throw new Error(`${ready} tasks are ready, expected ${TASKS * 0.9}`);
      }
    }
    await store.close();
    return [
      atMost('ready work among 10,000 open tasks, warm', median(warm), 'ms', 30),
      figure('… comparing every file (every 3 s)', median(full), 'ms'),
      figure('… read for the first time', coldMs, 'ms'),
    ];
  },
};
