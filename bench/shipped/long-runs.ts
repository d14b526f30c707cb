/**
 * W1 to W3 in a process that lives longer. Most of the code of a run is compiled during the first
 * few hundred runs; these rows show how much processor time that takes.
 */
import { figure, median, type Bench, type Row, type Testbed } from '../harness/rows.js';
import { builds, measure, RAW_FETCH, type Candidate } from '../harness/subjects.js';
import { TITLES, type WorkloadName } from '../variants/workloads.js';

const RUNS = 2000;
const WORKLOADS: WorkloadName[] = ['w1', 'w2', 'w3'];

export const longRuns: Bench = {
  name: 'long runs',
  minutes: 4,
  async run(testbed) {
    const rows: Row[] = [];
    for (const workload of WORKLOADS) rows.push(await longRun(testbed, workload));
    return rows;
  },
};

async function longRun(testbed: Testbed, workload: WorkloadName): Promise<Row> {
  const [ours] = builds(testbed);
  const runs = testbed.scale(RUNS, 20);
  const cpuMs = async (who: Candidate): Promise<number> => (await measure(testbed, who, { workload, runs })).cpuMs;
  const rounds: { ours: number; raw: number }[] = [];
  for (let round = 0; round < testbed.rounds; round++)
    rounds.push({ raw: await cpuMs(RAW_FETCH), ours: await cpuMs(ours!) });
  return figure(
    `${TITLES[workload]}: processor time in rounds of ${runs}`,
    median(rounds.map((round) => round.ours)),
    'ms',
    median(rounds.map((round) => round.raw)),
  );
}
