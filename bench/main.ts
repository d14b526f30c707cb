/**
 * `npm run bench`: measures each promise about speed next to a raw baseline in the same run.
 * `--only word` selects benchmarks whose name contains it; `--rounds n` multiplies the rounds;
 * `--json` prints one document. `--against DIR` compares this build with an older one
 * (compare-builds.ts); `--times n` is how often each build runs, 5 by default.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { costOfChoosing } from './coordination/cost-of-choosing.js';
import { noteBus } from './coordination/note-bus.js';
import { stateChanges } from './coordination/state-changes.js';
import { waits } from './coordination/wait-graph.js';
import { compareBuilds, printComparisons } from './harness/compare-builds.js';
import { printRows, type Bench, type Row, type Testbed } from './harness/rows.js';
import { boardParsing } from './parsing/board.js';
import { commandVerdict } from './parsing/command-verdict.js';
import { idleSwarm } from './process/idle-swarm.js';
import { idleWatch } from './process/idle-watch.js';
import { startup } from './process/startup.js';
import { advisorsAndHandoff } from './runs/advisors-and-handoff.js';
import { concurrentRuns } from './runs/concurrent-runs.js';
import { longConversation } from './runs/long-conversation.js';
import { singleRun } from './runs/single-run.js';
import { aggregates } from './store/aggregates.js';
import { competingClaims } from './store/competing-claims.js';
import { historyCommits } from './store/history-commits.js';
import { idlePump } from './store/idle-pump.js';
import { listReadyTasks } from './store/list-ready-tasks.js';
import { manyFinishedTasks } from './store/many-finished-tasks.js';
import { manyPendingTasks } from './store/many-pending-tasks.js';

/** Keep a benchmark's `name`: `--against` selects it by name in the older build. */
const BENCHES: Bench[] = [
  singleRun,
  advisorsAndHandoff,
  longConversation,
  concurrentRuns,
  competingClaims,
  manyPendingTasks,
  listReadyTasks,
  manyFinishedTasks,
  aggregates,
  idlePump,
  commandVerdict,
  costOfChoosing,
  boardParsing,
  noteBus,
  idleWatch,
  startup,
  idleSwarm,
  stateChanges,
  historyCommits,
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
const selected = BENCHES.filter(({ name }) => name.includes(values.only));
const machine = `${os.availableParallelism()} cores, Node ${process.versions.node}, ${os.platform()} ${os.release()}`;
const head = { at: new Date().toISOString(), machine };

if (values.against === undefined) {
  const rows = await measure();
  process.stdout.write(
    values.json ? `${JSON.stringify({ ...head, rows }, null, 2)}\n` : `${machine}\n\n${printRows(rows)}\n`,
  );
} else {
  const comparisons = await compareBuilds({
    folder: path.resolve(values.against),
    benches: selected.map(({ name }) => name),
    times: Number(values.times),
    rounds: values.rounds,
    scratchFolder: folderOnDisk(),
  });
  const text = values.json ? JSON.stringify({ ...head, comparisons }, null, 2) : printComparisons(comparisons);
  process.stdout.write(`${text}\n`);
}

async function measure(): Promise<Row[]> {
  const root = fs.mkdtempSync(path.join(folderOnDisk(), 'guild-bench-'));
  const rows: Row[] = [];
  try {
    for (const bench of selected) {
      if (!values.json) process.stderr.write(`${bench.name} …\n`);
      rows.push(...(await bench.run(testbed(root, Number(values.rounds)))));
    }
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
  return rows;
}

function testbed(root: string, factor: number): Testbed {
  let count = 0;
  return {
    rounds: (usual) => Math.max(1, Math.round(usual * factor)),
    folder(name) {
      const folder = path.join(root, `${name}-${++count}`);
      fs.mkdirSync(folder);
      return folder;
    },
  };
}

/**
 * Never a folder in memory: sync is free there, which would flatter both sides. Among the folders
 * on disk this picks the one where creating a file is fastest right now. On ext4 without a journal
 * that takes 20 µs, but over half a millisecond where thousands of files were just deleted.
 */
function folderOnDisk(): string {
  const TMPFS = 0x01021994;
  const chosen = process.env['BENCH_DIR'];
  const candidates = chosen === undefined ? ['/var/tmp', os.tmpdir(), os.homedir(), process.cwd()] : [chosen];
  const fastest = candidates
    .filter((folder) => fs.existsSync(folder) && fs.statfsSync(folder).type !== TMPFS)
    .map((folder) => ({ folder, ms: msToCreateFile(folder) }))
    .sort((a, b) => a.ms - b.ms)[0];
  if (fastest === undefined) throw new Error('no folder on a disk found; set BENCH_DIR to one');
  return fastest.folder;
}

/** Infinity if the folder is not writable. */
function msToCreateFile(parent: string): number {
  try {
    const folder = fs.mkdtempSync(path.join(parent, 'guild-bench-'));
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
