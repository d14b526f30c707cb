/**
 * Claiming and releasing a task among 10,000 pending tasks, and completing tasks while as many are
 * pending, compared with 100.
 */
import { scripted } from '../../src/adapters/models/scripted/index.js';
import { openWorkspace } from '../../src/app/open-workspace.js';
import { atLeastShare, median, type Bench, type Row } from '../harness/rows.js';
import { AGENT, dropTasks, writeWorkspace, writeFile } from '../harness/workspace.js';

const CLAIMS = 500;
/** The first completions are not measured: they include reading the folder and compiling code. */
const WARM_UP = 50;
const COMPLETIONS = 500;

export const manyPendingTasks: Bench = {
  name: 'pending',
  async run(testbed) {
    const claims: Record<number, number[]> = { 100: [], 10_000: [] };
    const completions: Record<number, number[]> = { 100: [], 10_000: [] };
    for (let round = 0; round < testbed.scale(3); round++)
      for (const count of [100, 10_000]) {
        claims[count]!.push(await claimRate(testbed.folder('pending'), count));
        completions[count]!.push(await completionRate(testbed.folder('crowd'), count));
      }
    const compared = (name: string, rates: typeof claims, least: number): Row =>
      atLeastShare(name, median(rates[10_000]!), median(rates[100]!), '/s', least);
    return [
      compared('claims among 10,000 pending, against 100', claims, 0.8),
      compared('tasks completed while 10,000 are pending, against 100', completions, 0.7),
    ];
  },
};

/**
 * `guild watch` with a model that answers immediately. Each completed task is replaced by a new
 * one, so that the number of pending tasks stays about the same.
 */
async function completionRate(root: string, count: number): Promise<number> {
  writeWorkspace(root);
  dropTasks(root, count);
  const stop = new AbortController();
  let completed = 0;
  let from = 0;
  let until = 0;
  const workspace = await openWorkspace(root, {
    history: false,
    model: scripted('- say: podman'),
    watchers: {
      event({ name }) {
        if (name !== 'task.completed' || stop.signal.aborted) return;
        const record = JSON.stringify({ description: 'Which runtime do we use?', to: AGENT });
        writeFile(root, `tasks/pending/again-${completed}.json`, record);
        if (++completed === WARM_UP) from = performance.now();
        if (completed < WARM_UP + COMPLETIONS) return;
        until = performance.now();
        stop.abort();
      },
    },
  });
  await workspace.watch(stop.signal);
  await workspace.close();
  return COMPLETIONS / ((until - from) / 1000);
}

async function claimRate(root: string, count: number): Promise<number> {
  writeWorkspace(root);
  const ids = dropTasks(root, count);
  const { store, close } = await openWorkspace(root, { history: false });
  await store.tasks.scan(true);
  const from = performance.now();
  for (let i = 0; i < CLAIMS; i++) {
    const claim = await store.tasks.claim(ids[(i * 37) % ids.length]!, 'reader');
    if (claim === undefined || !(await store.tasks.release(claim, claim.task))) throw new Error('a claim was lost');
  }
  const rate = CLAIMS / ((performance.now() - from) / 1000);
  await close();
  return rate;
}
