/**
 * `npm run bench -- --against DIR`: this build and an older one, in turns, so that a busy machine slows both.
 * Each benchmark runs in a process of its own. A row shows the median of both builds and the median of the
 * ratios within one round; the last row of a benchmark compares processor time.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, short, table, type Row } from './table.js';

interface Against {
  /** The folder of the older build: it has dist/bench/main.js. */
  folder: string;
  benches: readonly string[];
  /** How often each build runs each benchmark. */
  times: number;
  /** Passed on to both. */
  rounds: string;
  /** Where both make their files. */
  place: string;
}

export interface Comparison {
  bench: string;
  name: string;
  unit: string;
  older: number;
  newer: number;
  /** Newer to older; above 1 the newer takes more, or does more where the unit is a rate. */
  ratio: number;
  isWorse: boolean;
}

interface Run {
  rows: Row[];
  /** Of the process and all it waited for; undefined where the system does not tell. */
  cpuMs: number | undefined;
}

/** A ratio within this counts as the same. */
const NOISE = 0.1;
const NEWER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

export async function compareWith(given: Against): Promise<Comparison[]> {
  const found: Comparison[] = [];
  for (const bench of given.benches) {
    const runs: { older: Run; newer: Run }[] = [];
    for (let round = 0; round < given.times; round++) {
      process.stderr.write(`${bench}, round ${round + 1} of ${given.times} …\n`);
      runs.push(await oneRound(given, bench, round % 2 === 0));
    }
    found.push(...rowsOf(bench, runs));
  }
  return found;
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

async function oneRound(given: Against, bench: string, olderFirst: boolean): Promise<{ older: Run; newer: Run }> {
  const run = (folder: string): Promise<Run> => runBench(folder, bench, given);
  if (olderFirst) return { older: await run(given.folder), newer: await run(NEWER) };
  const newer = await run(NEWER);
  return { older: await run(given.folder), newer };
}

async function runBench(folder: string, bench: string, { rounds, place }: Against): Promise<Run> {
  const args = [path.join(folder, 'dist/bench/main.js'), '--only', bench, '--rounds', rounds, '--json'];
  const before = childrenCpuMs();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, BENCH_DIR: place },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${bench} of ${folder} ended with ${String(code)}`);
  const after = childrenCpuMs();
  const { rows } = JSON.parse(text) as { rows: Row[] };
  return { rows, cpuMs: before === undefined || after === undefined ? undefined : after - before };
}

/** Linux counts the time of all processes that this one waited for, with their children. */
function childrenCpuMs(): number | undefined {
  try {
    const fields = fs
      .readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return undefined;
  }
}

function rowsOf(bench: string, runs: readonly { older: Run; newer: Run }[]): Comparison[] {
  const { older, newer } = runs[0]!;
  const rows = newer.rows.flatMap((row, at) => {
    const other = counterpart(older.rows, newer.rows, at);
    const pairs = runs.map((run) => [run.older.rows[other]?.ours, run.newer.rows[at]?.ours] as const);
    return comparison(bench, row.name, row.unit, pairs);
  });
  const times = runs.flatMap(({ older, newer }) =>
    older.cpuMs === undefined || newer.cpuMs === undefined ? [] : [[older.cpuMs, newer.cpuMs] as const],
  );
  return [...rows, ...comparison(bench, 'processor time', 'ms', times)];
}

/** By name, where a name may occur several times; by position if a row was renamed. -1: there is none. */
function counterpart(older: readonly Row[], newer: readonly Row[], at: number): number {
  const { name } = newer[at]!;
  const before = newer.slice(0, at).filter((row) => row.name === name).length;
  const same = [...older.keys()].filter((other) => older[other]!.name === name);
  return same[before] ?? (older.length === newer.length ? at : -1);
}

/** Nothing for a row that one side does not have, or that is not a number. */
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
  const [older, newer] = [median(both.map((one) => one.older)), median(both.map((one) => one.newer))];
  return [{ bench, name, unit, older, newer, ratio, isWorse }];
}
