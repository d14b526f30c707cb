/**
 * `npm run bench -- --against …`, for benchmarks that look inside a build: this build and the older
 * one run their own versions alternately, so that a busy machine slows both. Each benchmark runs in
 * its own process. A row shows the median of each build and the median of the per-round ratios. If
 * both versions have the same rows, and so do the same work, a last row compares CPU time, without
 * the time that loading all benchmarks takes.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { THIS_CHECKOUT } from './builds.js';
import { median, short, table, type Row } from './rows.js';
import { reapedCpuMs } from './usage.js';

interface Options {
  /** The folder of the older build, which contains dist/bench/main.js. */
  folder: string;
  bench: string;
  /** How often each build runs it. */
  times: number;
  /** Both builds create their files here. */
  scratchFolder: string;
}

export interface Comparison {
  bench: string;
  name: string;
  unit: string;
  older: number;
  newer: number;
  /** Newer divided by older. Above 1 the newer build is slower, or faster if the unit is a rate. */
  ratio: number;
  isWorse: boolean;
}

interface Run {
  rows: Row[];
  /** CPU time of the process and its children; undefined if the system does not report it. */
  cpuMs: number | undefined;
}

/** Ratios this close to 1 count as equal. */
const NOISE = 0.1;

export async function compareBuilds(options: Options): Promise<Comparison[]> {
  const { bench, times } = options;
  const rounds: Round[] = [];
  for (let round = 0; round < times; round++) {
    process.stderr.write(`${bench}, round ${round + 1} of ${times} …\n`);
    rounds.push(await runRound(options, bench, round % 2 === 0));
  }
  return compareRounds(bench, rounds);
}

interface Round {
  older: Run;
  newer: Run;
}

export function printComparisons(comparisons: readonly Comparison[]): string {
  const cells = comparisons.map(({ bench, name, unit, older, newer, ratio, isWorse }) => [
    `${bench}: ${name}`,
    `${short(older)} ${unit}`,
    `${short(newer)} ${unit}`,
    `×${short(ratio)}`,
    isWorse ? 'WORSE' : '',
  ]);
  return table([['', 'older', 'newer', 'ratio', ''], ...cells]);
}

async function runRound(options: Options, bench: string, olderFirst: boolean): Promise<Round> {
  const run = (folder: string): Promise<Run> => runBench(folder, bench, options);
  if (olderFirst) return { older: await run(options.folder), newer: await run(THIS_CHECKOUT) };
  const newer = await run(THIS_CHECKOUT);
  return { older: await run(options.folder), newer };
}

async function runBench(folder: string, bench: string, { scratchFolder }: Options): Promise<Run> {
  const loading = await runMain(folder, [NO_BENCH], scratchFolder);
  const run = await runMain(folder, [bench, '--rounds', '1', '--json'], scratchFolder);
  if (run.code !== 0) throw new Error(`benchmark "${bench}" of ${folder} exited with ${String(run.code)}`);
  const { rows } = JSON.parse(run.text) as { rows: Row[] };
  return { rows, cpuMs: run.cpuMs > loading.cpuMs ? run.cpuMs - loading.cpuMs : undefined };
}

/** A name that no benchmark has: every build loads all its benchmarks, reports that, and exits. */
const NO_BENCH = '(none)';

async function runMain(folder: string, only: string[], scratchFolder: string): Promise<MainRun> {
  const isReal = only[0] !== NO_BENCH;
  const before = reapedCpuMs();
  const child = spawn(process.execPath, [path.join(folder, 'dist/bench/main.js'), '--only', ...only], {
    cwd: folder,
    env: { ...process.env, BENCH_DIR: scratchFolder },
    stdio: ['ignore', 'pipe', isReal ? 'inherit' : 'ignore'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, text, cpuMs: reapedCpuMs() - before };
}

interface MainRun {
  code: number | null;
  text: string;
  cpuMs: number;
}

export function compareRounds(bench: string, rounds: readonly Round[]): Comparison[] {
  const { older, newer } = rounds[0]!;
  const rows = newer.rows.flatMap((row, at) => {
    const olderAt = counterpart(older.rows, newer.rows, at);
    const was = older.rows[olderAt]?.name;
    const pairs = rounds.map((round) => [round.older.rows[olderAt]?.ours, round.newer.rows[at]?.ours] as const);
    return comparison(bench, was === row.name ? was : `${row.name} (older: ${was})`, row.unit, pairs);
  });
  const count = newer.rows.length - rows.length;
  if (count > 0) process.stderr.write(`${bench}: ${count} of ${newer.rows.length} rows are not in the older build\n`);
  if (older.rows.length !== newer.rows.length) return rows;
  const times = rounds.flatMap(({ older, newer }) =>
    older.cpuMs === undefined || newer.cpuMs === undefined ? [] : [[older.cpuMs, newer.cpuMs] as const],
  );
  return [...rows, ...comparison(bench, 'CPU time', 'ms', times)];
}

/**
 * The index of the older build's row for the newer row `at`, or -1. Rows match by name and, since
 * names repeat, by their number among equal names. A renamed row matches by position, if the row
 * there has the same unit and a name that no newer row has.
 */
function counterpart(older: readonly Row[], newer: readonly Row[], at: number): number {
  const { name, unit } = newer[at]!;
  const before = newer.slice(0, at).filter((row) => row.name === name).length;
  const same = [...older.keys()].filter((other) => older[other]!.name === name);
  if (same[before] !== undefined) return same[before];
  const other = older[at];
  const isRenamed =
    older.length === newer.length && other?.unit === unit && !newer.some((row) => row.name === other.name);
  return isRenamed ? at : -1;
}

/** Empty if only one build has the row or if its values are not numbers. */
function comparison(
  bench: string,
  name: string,
  unit: string,
  pairs: readonly (readonly [number | undefined, number | undefined])[],
): Comparison[] {
  const both = pairs.flatMap(([older, newer]) =>
    Number.isFinite(older) && Number.isFinite(newer) ? [{ older: older!, newer: newer! }] : [],
  );
  if (both.length === 0) return [];
  const ratio = median(both.map(({ older, newer }) => (older === newer ? 1 : newer / older)));
  const isWorse = unit.includes('/s') ? ratio < 1 - NOISE : ratio > 1 + NOISE;
  const [older, newer] = [median(both.map((pair) => pair.older)), median(both.map((pair) => pair.newer))];
  return [{ bench, name, unit, older, newer, ratio, isWorse }];
}
