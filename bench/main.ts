/**
 * `npm run bench`: each promise about speed, measured next to a raw baseline in the same run.
 * `--only word` keeps benchmarks whose name has it, `--rounds n` multiplies the rounds, `--json` prints one document.
 * `--against DIR` compares with an older build (against.ts); `--times n` is how often both run, 5 by default.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compareWith, printComparisons } from './against.js';
import { bids } from './bids.js';
import { boards } from './boards.js';
import { bus } from './bus.js';
import { claims } from './claims.js';
import { conversation } from './conversation.js';
import { finished } from './finished.js';
import { gate } from './gate.js';
import { history } from './history.js';
import { idle } from './idle.js';
import { listing } from './listing.js';
import { many } from './many.js';
import { oneRun } from './one-run.js';
import { patterns } from './patterns.js';
import { pending } from './pending.js';
import { quiet } from './quiet.js';
import { start } from './start.js';
import { swarm } from './swarm.js';
import { states } from './states.js';
import { waits } from './waits.js';
import { print, type Bed, type Bench, type Row } from './table.js';

const ALL: Bench[] = [
  oneRun,
  patterns,
  conversation,
  many,
  claims,
  pending,
  listing,
  finished,
  quiet,
  gate,
  bids,
  boards,
  bus,
  idle,
  start,
  swarm,
  states,
  history,
  waits,
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    against: { type: 'string' },
    times: { type: 'string', default: '5' },
  },
});
const chosen = ALL.filter(({ name }) => name.includes(values.only));
const machine = `${os.availableParallelism()} cores, Node ${process.versions.node}, ${os.platform()} ${os.release()}`;
const head = { at: new Date().toISOString(), machine };

if (values.against === undefined) {
  const rows = await measured();
  process.stdout.write(
    values.json ? `${JSON.stringify({ ...head, rows }, null, 2)}\n` : `${machine}\n\n${print(rows)}\n`,
  );
} else {
  const comparisons = await compareWith({
    folder: path.resolve(values.against),
    benches: chosen.map(({ name }) => name),
    times: Number(values.times),
    rounds: values.rounds,
    place: realDisk(),
  });
  const text = values.json ? JSON.stringify({ ...head, comparisons }, null, 2) : printComparisons(comparisons);
  process.stdout.write(`${text}\n`);
}

async function measured(): Promise<Row[]> {
  const root = fs.mkdtempSync(path.join(realDisk(), 'guild-bench-'));
  const rows: Row[] = [];
  try {
    for (const bench of chosen) {
      if (!values.json) process.stderr.write(`${bench.name} …\n`);
      rows.push(...(await bench.run(bed(root, Number(values.rounds)))));
    }
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
  return rows;
}

function bed(folder: string, factor: number): Bed {
  let count = 0;
  return {
    rounds: (usual) => Math.max(1, Math.round(usual * factor)),
    folder(name) {
      const made = path.join(folder, `${name}-${++count}`);
      fs.mkdirSync(made);
      return made;
    },
  };
}

/**
 * Syncing memory costs nothing, so a folder in memory would flatter both sides. Of the places on a disk the one is taken where making a file is
 * quickest now: on ext4 without a journal it takes 20 µs, but half a millisecond and more near where thousands were deleted in the last minutes.
 */
function realDisk(): string {
  const TMPFS = 0x01021994;
  const given = process.env['BENCH_DIR'];
  const places = given === undefined ? ['/var/tmp', os.tmpdir(), os.homedir(), process.cwd()] : [given];
  const found = places
    .filter((place) => fs.existsSync(place) && fs.statfsSync(place).type !== TMPFS)
    .map((place) => ({ place, ms: msToMakeAFile(place) }))
    .sort((a, b) => a.ms - b.ms)[0];
  if (found === undefined) throw new Error('no folder on a disk was found; set BENCH_DIR to one');
  return found.place;
}

/** Infinite where none can be made. */
function msToMakeAFile(place: string): number {
  try {
    const folder = fs.mkdtempSync(path.join(place, 'guild-bench-'));
    const times: number[] = [];
    for (let n = 0; n < 30; n++) {
      const from = performance.now();
      fs.closeSync(fs.openSync(path.join(folder, String(n)), 'wx'));
      times.push(performance.now() - from);
    }
    fs.rmSync(folder, { recursive: true });
    return times.sort((a, b) => a - b)[15]!;
  } catch {
    return Infinity;
  }
}
