/**
 * What history costs: the processor time that it adds to a run, git included, back to back and as
 * shipped; and how much a run adds to the repository beside many ended tasks.
 */
import fs from 'node:fs';
import path from 'node:path';
import { openWorkspace, type Model } from '../../src/app/index.js';
import { atMost, atMostOver, median, type Bench, type Testbed } from '../harness/rows.js';
import { AGENT, writeFile, writeWorkspace } from '../harness/workspace.js';

const ENDED = 5000;
const RUNS = 200;

export const historyCommits: Bench = {
  name: 'history',
  async run(testbed) {
    return [...(await runs(testbed)), ...(await growth(testbed))];
  },
};

const model: Model = {
  call: async () => ({
    ok: true,
    answer: {
      text: 'podman',
      toolCalls: [],
      finish: 'stop',
      inputTokens: 9,
      outputTokens: 1,
      cachedTokens: 0,
      microUsd: 0,
    },
  }),
};

async function runs(testbed: Testbed): ReturnType<Bench['run']> {
  const withHistory: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < testbed.rounds(5); round++) {
    const [plain, kept] = [
      await timed(testbed, `without-${round}`, false),
      await timed(testbed, `with-${round}`, true),
    ];
    without.push(plain);
    withHistory.push(kept);
  }
  const name = 'processor time of a run with history, git included';
  return [atMostOver(name, median(withHistory), median(without), 'ms', 0.3)];
}

/** Processor milliseconds of a run, to the end of `close`. */
async function timed(testbed: Testbed, name: string, isKept: boolean): Promise<number> {
  const root = writeWorkspace(testbed.folder(name));
  setHistory(root, isKept);
  const workspace = await openWorkspace(root, { model, env: { PATH: process.env['PATH'] } });
  for (let n = 0; n < 10; n++) await workspace.run(AGENT, 'Which runtime do we use?');
  const from = processorMs();
  for (let n = 0; n < RUNS; n++) await workspace.run(AGENT, 'Which runtime do we use?');
  await workspace.close();
  return (processorMs() - from) / RUNS;
}

async function growth(testbed: Testbed): ReturnType<Bench['run']> {
  const root = writeWorkspace(testbed.folder('growth'));
  setHistory(root, true);
  for (let n = 0; n < ENDED; n++) writeFile(root, `results/r-${n}.md`, `result ${n}\n`);
  const open = (): ReturnType<typeof openWorkspace> =>
    openWorkspace(root, { model, env: { PATH: process.env['PATH'] } });
  const runOnce = async (): Promise<void> => {
    const workspace = await open();
    await workspace.run(AGENT, 'Which runtime do we use?');
    await workspace.close();
  };
  do await runOnce();
  while (fs.existsSync(path.join(root, '.guild/history/beginning')));
  const before = bytesUnder(path.join(root, '.guild/history.git/objects/pack'));
  const times = testbed.rounds(10);
  for (let n = 0; n < times; n++) await runOnce();
  const bytes = bytesUnder(path.join(root, '.guild/history.git/objects/pack')) - before;
  return [atMost(`a run adds to history beside ${ENDED} results`, bytes / times / 1000, 'kB', 30)];
}

function setHistory(root: string, isKept: boolean): void {
  const config = path.join(root, 'guild.yaml');
  const text = fs.readFileSync(config, 'utf8').replace('git: false\n', '');
  fs.writeFileSync(config, isKept ? text : `${text}git: false\n`);
}

/** Of this process and the children that have ended, where the system tells. */
function processorMs(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const own = (userCPUTime + systemCPUTime) / 1000;
  if (process.platform !== 'linux') return own;
  const fields = fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return own + (Number(fields[13]) + Number(fields[14])) * 10;
}

function bytesUnder(folder: string): number {
  return fs.readdirSync(folder).reduce((sum, name) => sum + fs.statSync(path.join(folder, name)).size, 0);
}
