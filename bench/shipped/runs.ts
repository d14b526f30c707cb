/**
 * W1 to W3: one run, eight advisors, a chain of five. The whole public `run()` is timed, back to
 * back, in a workspace as `guild init` leaves it, against raw loops that make the same calls and,
 * if asked for, against other frameworks. In each round every subject has a turn.
 */
import { median, signed, type Bench, type Row, type SubjectFigures, type Testbed } from '../harness/rows.js';
import { builds, measure, RAW_FETCH, RAW_HTTP, RAW_JOURNAL, type Candidate } from '../harness/subjects.js';
import type { MeasuredSubject } from '../harness/subjects.js';
import { TITLES } from '../variants/workloads.js';

interface RunTarget {
  workload: 'w1' | 'w2' | 'w3';
  runs: number;
  /** Milliseconds over the raw loop. */
  overMs: number;
  cpuMs?: number;
}

/**
 * Runs in a round, for each subject. V8 compiles during the first few hundred runs, and its share
 * should be that of a process that lives for a minute; `guild run` measures one that has just
 * started.
 */
const RUNS = 500;

export const RUN_TARGETS: RunTarget[] = [
  { workload: 'w1', runs: RUNS, overMs: 3, cpuMs: 4.5 },
  { workload: 'w2', runs: RUNS, overMs: 6, cpuMs: 16 },
  { workload: 'w3', runs: RUNS, overMs: 8, cpuMs: 13 },
];

export const runs: Bench[] = RUN_TARGETS.map((target) => ({
  name: `${target.workload} run`,
  run: (testbed) => {
    const everybody = [RAW_FETCH, RAW_JOURNAL, RAW_HTTP, ...builds(testbed), ...testbed.peers];
    return compareRuns(testbed, target, everybody, TITLES[target.workload]);
  },
}));

/** The first candidate is the baseline. A peer that fails is reported and left out. */
export async function compareRuns(
  testbed: Testbed,
  target: RunTarget,
  everybody: readonly Candidate[],
  title: string,
): Promise<Row[]> {
  const rounds = new Map(everybody.map((who) => [who, [] as MeasuredSubject[]]));
  const failures = new Map<Candidate, string>();
  for (let round = 0; round < testbed.rounds; round++) {
    for (const who of turns(everybody, round)) {
      if (failures.has(who)) continue;
      try {
        const settings = { workload: target.workload, runs: testbed.scale(target.runs, 10) };
        rounds.get(who)!.push(await measure(testbed, who, settings));
      } catch (error) {
        if (who.kind !== 'peer') throw error;
        failures.set(who, reasonIn((error as Error).message));
      }
    }
  }
  const raw = rounds.get(everybody[0]!)!;
  const rows = everybody.map((who): Row => {
    const why = failures.get(who);
    if (why !== undefined) return { name: `${title}: ${who.name}`, unit: '', compared: '', text: why };
    return runRow(title, figures(who, rounds.get(who)!, raw), target);
  });
  return [...rows, ...lagRow(title, rounds)];
}

/** The sentence of the error that a process printed, without the folders of this machine. */
export function reasonIn(output: string): string {
  const [, sentence = 'it failed'] = /^\w*Error\b[^:\n]*: ([^]*?)(?:\.\s|\n\s+at |\n\n|(?![^]))/m.exec(output) ?? [];
  return sentence
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\/(?:[^\s'"/]+\/)+/g, '')
    .trim();
}

/** Another order in each round, so that no subject always follows the same neighbour. */
function turns(everybody: readonly Candidate[], round: number): Candidate[] {
  const first = round % everybody.length;
  return [...everybody.slice(first), ...everybody.slice(0, first)];
}

function figures({ name, kind }: Candidate, own: MeasuredSubject[], raw: MeasuredSubject[]): SubjectFigures {
  const over = own.map(({ ms }, round) => median(ms) - median(raw[round]!.ms));
  return {
    name,
    kind,
    ms: median(own.map(({ ms }) => median(ms))),
    over: median(over),
    range: [Math.min(...over), Math.max(...over)],
    cpuMs: median(own.map(({ cpuMs }) => cpuMs)),
    promptBytes: median(own.map(({ promptBytes }) => promptBytes)),
  };
}

function runRow(name: string, subject: SubjectFigures, { overMs, cpuMs }: RunTarget): Row {
  const row: Row = { name, subject, ours: subject.ms, unit: 'ms', compared: signed(subject.over) };
  if (subject.kind !== 'ours') return row;
  const isCpuMet = cpuMs === undefined || subject.cpuMs <= cpuMs;
  const target = cpuMs === undefined ? `≤ +${overMs} ms` : `≤ +${overMs} ms, ≤ ${cpuMs} ms CPU`;
  return { ...row, target, met: subject.over <= overMs && isCpuMet };
}

/** How far files were behind the journal, for builds that report it. */
function lagRow(title: string, rounds: ReadonlyMap<Candidate, MeasuredSubject[]>): Row[] {
  const ours = [...rounds].find(([{ kind }]) => kind === 'ours')?.[1];
  if (ours === undefined) return [];
  const name = `${title}: worst lag between journal and files`;
  const lags = ours.flatMap(({ worstLagMs }) => worstLagMs ?? []);
  if (lags.length === 0) return [{ name, unit: 'ms', compared: '', text: 'not reported' }];
  const worst = Math.max(...lags);
  return [{ name, ours: worst, unit: 'ms', compared: '', target: '≤ 50 ms', met: worst <= 50 }];
}
