/**
 * Beside 100,000 finished tasks, with their pages, conversations and events: a run, the growth of
 * history, the first run when history begins late, and commands that sum everything up. The
 * finished tasks are copies of one that this build really ran.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Build } from '../harness/builds.js';
import { diskUsage } from '../harness/folders.js';
import { runProcess, type Ended } from '../harness/run-process.js';
import { against, atMost, atMostTimes, median, type Bench, type Row, type Testbed } from '../harness/rows.js';
import { guild, shippedWorkspace } from '../harness/shipped-workspace.js';
import { builds, measure, type Candidate } from '../harness/subjects.js';
import { dropTasks, writeFile } from '../harness/workspace.js';
import { READER } from '../variants/workloads.js';

const FINISHED = 100_000;
const DAYS = 30;
const SEED = 'seed-000000';
const PROCESS_RUNS = 5;
const LIBRARY_RUNS = 60;
const MAX_RATIO = 1.2;
const MAX_GROWTH_KB = 30;
const MAX_SECONDS = 1;
const MAX_MB = 150;
const TIMEOUT_MS = 5 * 60_000;
const SETTLE_MS = 3 * 60_000;
const SETTLE_POLL_MS = 2000;
const SUMS: string[][] = [
  ['cost', '--by', 'task'],
  ['query', 'SELECT COUNT(*) FROM tasks'],
  ['check'],
  ['top', '--once'],
  ['why', 'old-000007'],
];

interface Figures {
  firstRun: [few: number, lots: number];
  processRun: [few: number, lots: number];
  processCpu: [few: number, lots: number];
  libraryRun: [few: number, lots: number];
  growthKb: number;
  sums: { firstMs: number; ms: number; peakMb: number; isCut: boolean }[];
}

export const finishedTasks: Bench = {
  name: 'finished tasks',
  minutes: 5,
  async run(testbed) {
    const all: Figures[] = [];
    for (const who of builds(testbed)) all.push(await figuresOf(testbed, who));
    const [ours, older] = all as [Figures, Figures?];
    return [...runRows(testbed.scale(FINISHED, 2000), ours, older), ...sumRows(ours, older)];
  },
};

async function figuresOf(testbed: Testbed, who: Candidate): Promise<Figures> {
  const build = who.build!;
  const { url } = testbed.model;
  const few = shippedWorkspace(build, testbed.folder('few'), { url });
  const lots = shippedWorkspace(build, testbed.folder('lots'), { url });
  copyFinished(ranOnce(testbed, build), lots, testbed.scale(FINISHED, 2000));
  const sums: Figures['sums'] = [];
  for (const command of SUMS) {
    const args = [build.guild, ...command, '--workspace', lots];
    const first = await runProcess(args, { timeoutMs: TIMEOUT_MS });
    const warm = first.isCut ? first : await runProcess(args, { timeoutMs: TIMEOUT_MS });
    sums.push({ firstMs: first.ms, ms: warm.ms, peakMb: warm.peakMb, isCut: first.isCut || warm.isCut });
  }
  const run = (root: string): Promise<Ended> =>
    runProcess([build.guild, 'run', 'reader', READER.request, '--quiet', '--workspace', root]);
  const firstRun: Figures['firstRun'] = [(await run(few)).ms, (await run(lots)).ms];
  await settleHistory(build, lots);
  const processRuns: [Ended[], Ended[]] = [[], []];
  for (let n = 0; n < testbed.scale(PROCESS_RUNS, 2); n++) {
    processRuns[0].push(await run(few));
    processRuns[1].push(await run(lots));
  }
  const runs = testbed.scale(LIBRARY_RUNS, 10);
  const before = historySize(lots);
  const settings = { workload: 'w1', runs } as const;
  const [fewRuns, lotsRuns] = [
    await measure(testbed, who, { ...settings, folder: few }),
    await measure(testbed, who, { ...settings, folder: lots }),
  ];
  return {
    firstRun,
    processRun: pair(processRuns, ({ ms }) => ms),
    processCpu: pair(processRuns, ({ cpuMs }) => cpuMs),
    libraryRun: [median(fewRuns.ms), median(lotsRuns.ms)],
    growthKb: (historySize(lots) - before) / 1000 / runs,
    sums,
  };
}

function pair([few, lots]: [Ended[], Ended[]], value: (run: Ended) => number): [number, number] {
  return [median(few.map(value)), median(lots.map(value))];
}

function runRows(count: number, ours: Figures, older: Figures | undefined): Row[] {
  const beside = `beside ${count.toLocaleString('en')} finished tasks`;
  const compared = (name: string, pick: (figures: Figures) => [number, number], max: number | undefined): Row => {
    const [few, lots] = pick(ours);
    const row = atMostTimes(name, lots, few, 'ms', max ?? Infinity);
    const { target: _, met: __, ...open } = row;
    return against(max === undefined ? open : row, older && pick(older)[1]);
  };
  return [
    compared(`run() ${beside}, against an empty workspace`, ({ libraryRun }) => libraryRun, MAX_RATIO),
    compared(`guild run ${beside}, against an empty workspace`, ({ processRun }) => processRun, MAX_RATIO),
    compared(`guild run ${beside}: processor time`, ({ processCpu }) => processCpu, MAX_RATIO),
    compared(`the first guild run ${beside}, when history begins`, ({ firstRun }) => firstRun, undefined),
    against(atMost(`growth of history per run ${beside}`, ours.growthKb, 'kB', MAX_GROWTH_KB), older?.growthKb),
  ];
}

function sumRows(ours: Figures, older: Figures | undefined): Row[] {
  return SUMS.map((command, at) => {
    const { firstMs, ms, peakMb, isCut } = ours.sums[at]!;
    const row: Row = {
      name: `guild ${command.join(' ')}, the second time`,
      ours: ms / 1000,
      unit: 's',
      compared: `${Math.round(peakMb)} MB; the first time ${(firstMs / 1000).toFixed(1)} s`,
      target: `≤ ${MAX_SECONDS} s, ≤ ${MAX_MB} MB`,
      met: !isCut && ms / 1000 <= MAX_SECONDS && peakMb <= MAX_MB,
    };
    return against(isCut ? { ...row, compared: 'stopped' } : row, older && older.sums[at]!.ms / 1000);
  });
}

/** A workspace in which this build has run one task, whose files are the pattern for all others. */
function ranOnce(testbed: Testbed, build: Build): string {
  const root = shippedWorkspace(build, testbed.folder('seed'), { url: testbed.model.url });
  guild(build, 'run', 'reader', READER.request, '--id', SEED, '--quiet', '--workspace', root);
  return root;
}

function copyFinished(from: string, to: string, count: number): void {
  const patterns = ['tasks/completed', 'results', 'sessions'].flatMap((folder) =>
    fs.existsSync(path.join(from, folder))
      ? fs
          .readdirSync(path.join(from, folder))
          .filter((name) => name.includes(SEED))
          .map((name) => ({ file: `${folder}/${name}`, text: fs.readFileSync(path.join(from, folder, name), 'utf8') }))
      : [],
  );
  const events = fs
    .readdirSync(path.join(from, 'events'))
    .flatMap((name) => fs.readFileSync(path.join(from, 'events', name), 'utf8').split('\n'))
    .filter((line) => line.includes(SEED));
  if (patterns.length < 2 || events.length === 0) throw new Error('the finished task left fewer files than expected');
  const perDay = Math.ceil(count / DAYS);
  for (let n = 0; n < count; n++) {
    const id = `old-${String(n).padStart(6, '0')}`;
    for (const { file, text } of patterns) writeFile(to, file.replaceAll(SEED, id), text.replaceAll(SEED, id));
  }
  for (let day = 0; day < DAYS; day++) {
    const date = new Date(Date.now() - (day + 1) * 86_400_000).toISOString().slice(0, 10);
    const lines: string[] = [];
    for (let n = day * perDay; n < Math.min(count, (day + 1) * perDay); n++) {
      const id = `old-${String(n).padStart(6, '0')}`;
      for (const line of events) lines.push(line.replaceAll(SEED, id).replace(/\d{4}-\d\d-\d\d(?=T)/g, date));
    }
    writeFile(to, `events/${date}.jsonl`, `${lines.join('\n')}\n`);
  }
}

/**
 * Waits until a `guild watch` has written the first commits, which a build may do in several steps.
 * Then Git packs them, so that no packing happens during the measurement.
 */
async function settleHistory(build: Build, root: string): Promise<void> {
  dropTasks(root, 1);
  const watch = spawn(process.execPath, [build.guild, 'watch', '--quiet', '--workspace', root], { stdio: 'ignore' });
  const ended = once(watch, 'exit');
  const from = performance.now();
  for (let size = -1; performance.now() - from < SETTLE_MS; await sleep(SETTLE_POLL_MS)) {
    const isUnderWay = fs.existsSync(path.join(root, '.guild', 'history', 'beginning'));
    if (!isUnderWay && historySize(root) === size) break;
    size = historySize(root);
  }
  watch.kill('SIGINT');
  await ended;
  for (const folder of HISTORY_FOLDERS.map((name) => path.join(root, name)).filter((each) => fs.existsSync(each)))
    execFileSync('git', ['--git-dir', folder, 'gc', '--quiet'], { stdio: 'ignore' });
}

/** In the workspace, and where older builds had it. */
const HISTORY_FOLDERS = ['.guild/history.git', '.git'];

function historySize(root: string): number {
  return HISTORY_FOLDERS.reduce((total, name) => total + diskUsage(path.join(root, name)), 0);
}
