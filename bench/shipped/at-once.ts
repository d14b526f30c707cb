/**
 * W5: a thousand `workspace.run()` at once, as shipped (16 advance at a time) and with room for all
 * of them, against as many raw loops.
 */
import { against, atLeastShare, atMost, figure, median, type Bench, type Row } from '../harness/rows.js';
import { builds, measure, RAW_FETCH, type MeasuredSubject } from '../harness/subjects.js';

const RUNS = 1000;
const LEAST_SHARE = 0.6;
/** Per run, while all runs wait for their first answer. Peak memory would also include garbage. */
const MAX_MEMORY_KB = 80;
/** An older build may need minutes. */
const TIMEOUT_MS = 10 * 60_000;

export const atOnce: Bench = {
  name: 'w5 at once',
  async run(testbed) {
    const runs = testbed.scale(RUNS, 100);
    const settings = { workload: 'w1', runs, together: true, timeoutMs: TIMEOUT_MS } as const;
    const raw: MeasuredSubject[] = [];
    const shipped = builds(testbed).map(() => [] as MeasuredSubject[]);
    const wide = builds(testbed).map(() => [] as MeasuredSubject[]);
    const rawHeld: MeasuredSubject[] = [];
    const held = builds(testbed).map(() => [] as MeasuredSubject[]);
    for (let round = 0; round < Math.min(testbed.rounds, 3); round++) {
      raw.push(await measure(testbed, RAW_FETCH, settings));
      rawHeld.push(await measure(testbed, RAW_FETCH, { ...settings, held: true }));
      for (const [at, who] of builds(testbed).entries()) {
        shipped[at]!.push(await measure(testbed, who, settings));
        wide[at]!.push(await measure(testbed, who, { ...settings, limits: { parallel: runs } }));
        held[at]!.push(await measure(testbed, who, { ...settings, limits: { parallel: runs }, held: true }));
      }
    }
    const perSecond = (rounds: MeasuredSubject[]): number =>
      median(rounds.map(({ totalMs }) => runs / (totalMs / 1000)));
    const memory = (rounds: MeasuredSubject[]): number => median(rounds.map(({ memoryKb }) => memoryKb));
    const waiting = (rounds: MeasuredSubject[]): number => median(rounds.map(({ heldKb = 0 }) => heldKb));
    const name = `${runs.toLocaleString('en')} × run() at once`;
    const rate = (label: string, [ours, older]: MeasuredSubject[][]): Row =>
      against(atLeastShare(label, perSecond(ours!), perSecond(raw), 'runs/s', LEAST_SHARE), older && perSecond(older));
    return [
      rate(name, shipped),
      rate(`${name}, all of them in flight (parallel: ${runs})`, wide),
      against(
        atMost(`${name}, all waiting for their first answer: memory per run`, waiting(held[0]!), 'kB', MAX_MEMORY_KB),
        held[1] && waiting(held[1]),
      ),
      figure('… a raw loop', waiting(rawHeld), 'kB'),
      against(
        figure(`${name}, all in flight: largest memory, per run`, memory(wide[0]!), 'kB'),
        wide[1] && memory(wide[1]),
      ),
      figure('… a raw loop', memory(raw), 'kB'),
    ];
  },
};
