/** Claiming and putting back one task among 10,000 that are pending, against the same among 100. */
import { openWorkspace } from '../src/app/open-workspace.js';
import { atLeastPart, median, type Bench } from './table.js';
import { dropTasks, layWorkspace } from './workspace.js';

const CLAIMS = 500;

export const pending: Bench = {
  name: 'pending',
  async run(bed) {
    const rates: Record<number, number[]> = { 100: [], 10_000: [] };
    for (let round = 0; round < bed.rounds(3); round++)
      for (const count of [100, 10_000]) rates[count]!.push(await claimRate(bed.folder('pending'), count));
    return [
      atLeastPart('claims among 10,000 pending, against 100', median(rates[10_000]!), median(rates[100]!), '/s', 0.8),
    ];
  },
};

async function claimRate(root: string, count: number): Promise<number> {
  layWorkspace(root);
  const ids = dropTasks(root, count);
  const { store, close } = await openWorkspace(root, { history: false });
  await store.scan(true);
  const from = performance.now();
  for (let i = 0; i < CLAIMS; i++) {
    const claim = store.claim(ids[(i * 37) % ids.length]!, 'reader');
    if (claim === undefined || !(await store.release(claim, claim.task))) throw new Error('a claim was lost');
  }
  const rate = CLAIMS / ((performance.now() - from) / 1000);
  await close();
  return rate;
}
