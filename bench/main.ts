/**
 * `npm run bench`: measures what a user gets, as npm delivers it, next to raw loops.
 *
 *   --only w1,listing     benchmarks whose name contains one of these words
 *   --rounds n            how often each subject is measured, in turn (default 2)
 *   --minutes n           time limit; later benchmarks are left out (default 12; none with --only)
 *   --sustain n           minutes of 100,000 tasks an hour on PostgreSQL (default 1)
 *   --inner               also benchmarks that look inside this build; --only finds them too
 *   --quick               a smoke test of about a minute; its figures mean little
 *   --peers               also other frameworks, installed on demand into a cache
 *   --against DIR|REV     also an older build, alternating with this one
 *   --json                one document on standard output; --from FILE,… reads such documents
 *   --write-docs          writes the figures to docs/speed.md and docs/pictures/speed.svg
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { BENCHES, isInner } from './benches.js';
import { olderBuild, packedBuild, type Build } from './harness/builds.js';
import { compareBuilds, printComparisons, type Comparison } from './harness/compare-builds.js';
import { scratchFolder } from './harness/folders.js';
import { startModelServer } from './harness/model-server.js';
import { printRows, without, type Bench, type Testbed } from './harness/rows.js';
import { installPeers } from './peers/install.js';
import { writeDocs, type Results } from './report/speed-page.js';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    minutes: { type: 'string' },
    sustain: { type: 'string', default: '1' },
    inner: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    from: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 1 : 2));
const minutes = Number(values.minutes ?? (values.only === '' ? 12 : Infinity));
const words = values.only.split(',').map((word) => word.trim().toLowerCase());
const isAll = values.inner || values.only !== '' || values.against !== undefined;
const candidates = isAll ? BENCHES : BENCHES.filter((bench) => !isInner(bench));
const selected = candidates.filter(({ name }) => words.some((word) => name.includes(word)));
if (selected.length === 0) fail(`no benchmark has a name with ${values.only}; there are: ${names(BENCHES)}`);
if (!Number.isInteger(rounds) || rounds < 1) fail(`--rounds ${values.rounds} is not a number of rounds`);
if (!(Number(values.sustain) > 0)) fail(`--sustain ${values.sustain} is not a number of minutes`);
if (!(minutes > 0)) fail(`--minutes ${values.minutes} is not a number of minutes`);

const results = values.from === undefined ? await measureAll() : together(values.from.split(',').map(readResults));
if (values['write-docs']) writeDocs(results);
process.stdout.write(values.json ? `${JSON.stringify(results, null, 2)}\n` : `${printed(results)}\n`);

function readResults(file: string): Results {
  return JSON.parse(fs.readFileSync(file, 'utf8')) as Results;
}

/** Results of several runs on one machine; the whole takes an hour. */
function together(parts: readonly Results[]): Results {
  const [first] = parts;
  return {
    ...first!,
    load: Math.max(...parts.map(({ load = 0 }) => load)),
    isQuick: parts.some(({ isQuick }) => isQuick),
    rows: parts.flatMap(({ rows }) => rows),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
  };
}

async function measureAll(): Promise<Results> {
  const root = fs.mkdtempSync(path.join(scratchFolder(), 'guild-bench-'));
  const loadBefore = os.loadavg()[0]!;
  const model = await startModelServer();
  process.env['GUILD_STATE'] = path.join(root, 'state');
  try {
    const folder = newFolder(root);
    let build: Build | undefined;
    const testbed: Testbed = {
      // Packed at first use: with --against, the time of a benchmark that looks inside is compared.
      get build() {
        return (build ??= packedBuild(folder('build')));
      },
      older: values.against === undefined ? undefined : olderBuild(values.against, folder('older')),
      peers: values.peers ? installPeers() : [],
      model,
      rounds,
      sustainMinutes: Number(values.sustain),
      scale: (usual, quick = Math.ceil(usual / 5)) => (values.quick ? quick : usual),
      folder,
    };
    const rows: Results['rows'] = [];
    const comparisons: Comparison[] = [];
    const from = performance.now();
    for (const bench of selected) {
      const leftMinutes = minutes - (performance.now() - from) / 60_000;
      if (leftMinutes < (bench.minutes ?? 1)) {
        rows.push({
          ...without(bench.name, `left out: fewer than ${bench.minutes ?? 1} minutes left`),
          bench: bench.name,
        });
        continue;
      }
      say(`${bench.name} …`);
      if (testbed.older !== undefined && isInner(bench)) comparisons.push(...(await compared(bench, testbed)));
      else rows.push(...(await bench.run(testbed)).map((row) => ({ ...row, bench: bench.name })));
    }
    const load = Math.max(loadBefore, os.loadavg()[0]!);
    return { at: new Date().toISOString(), machine: machine(), load, rounds, isQuick: values.quick, rows, comparisons };
  } finally {
    model.close();
    fs.rmSync(root, { recursive: true, force: true });
  }
}

/** Each build runs its own version of a benchmark that looks inside the build. */
async function compared(bench: Bench, { older, rounds: times }: Testbed): Promise<Comparison[]> {
  if (older?.checkout === undefined) {
    say(`${bench.name}: skipped, because the older build has no benchmarks of its own`);
    return [];
  }
  return compareBuilds({ folder: older.checkout, bench: bench.name, times, scratchFolder: scratchFolder() });
}

function newFolder(root: string): Testbed['folder'] {
  let count = 0;
  return (name) => {
    const folder = path.join(root, `${name}-${++count}`);
    fs.mkdirSync(folder);
    return folder;
  };
}

function machine(): string {
  const cpu = os.cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${os.availableParallelism()} cores (${cpu}), Node ${process.versions.node}, ${os.platform()} ${os.release()}`;
}

function printed({ machine: where, rows, comparisons }: Results): string {
  const parts = [
    where,
    rows.length > 0 ? printRows(rows) : '',
    comparisons.length > 0 ? printComparisons(comparisons) : '',
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function names(benches: readonly Bench[]): string {
  return benches.map(({ name }) => name).join(', ');
}

function say(text: string): void {
  if (!values.json) process.stderr.write(`${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
