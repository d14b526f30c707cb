/** Claiming and putting back one task among 10,000 that are pending, and working on tasks while so many wait, against the same among 100. */
import { scripted } from '../src/adapters/models/scripted/index.js';
import { openWorkspace } from '../src/app/open-workspace.js';
import { atLeastPart, median, type Bench, type Row } from './table.js';
import { AGENT, dropTasks, layWorkspace, put } from './workspace.js';

const CLAIMS = 500;
/** Ends before these are not counted: the folder is read first, and code is warmed up. */
const WARM = 50;
const ENDS = 500;

export const pending: Bench = {
  name: 'pending',
  async run(bed) {
    const claims: Record<number, number[]> = { 100: [], 10_000: [] };
    const ends: Record<number, number[]> = { 100: [], 10_000: [] };
    for (let round = 0; round < bed.rounds(3); round++)
      for (const count of [100, 10_000]) {
        claims[count]!.push(await claimRate(bed.folder('pending'), count));
        ends[count]!.push(await endRate(bed.folder('crowd'), count));
      }
    const compared = (name: string, of: typeof ends, least: number): Row =>
      atLeastPart(name, median(of[10_000]!), median(of[100]!), '/s', least);
    return [
      compared('claims among 10,000 pending, against 100', claims, 0.8),
      compared('tasks ended while 10,000 are pending, against 100', ends, 0.7),
    ];
  },
};

/** `guild watch` with a model that answers at once. About as many are pending all the time: what ends is dropped again under another name. */
async function endRate(root: string, count: number): Promise<number> {
  layWorkspace(root);
  dropTasks(root, count);
  const stop = new AbortController();
  let ended = 0;
  let from = 0;
  let until = 0;
  const workspace = await openWorkspace(root, {
    history: false,
    model: scripted('- say: podman'),
    watchers: {
      event({ name }) {
        if (name !== 'task.completed' || stop.signal.aborted) return;
        const record = JSON.stringify({ description: 'Which runtime do we use?', to: AGENT });
        put(root, `tasks/pending/again-${ended}.json`, record);
        if (++ended === WARM) from = performance.now();
        if (ended < WARM + ENDS) return;
        until = performance.now();
        stop.abort();
      },
    },
  });
  await workspace.watch(stop.signal);
  await workspace.close();
  return ENDS / ((until - from) / 1000);
}

async function claimRate(root: string, count: number): Promise<number> {
  layWorkspace(root);
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
