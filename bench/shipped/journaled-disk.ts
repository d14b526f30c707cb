/**
 * W1 to W3 on ext4 with a journal, where a sync costs more: a file with a file system in it,
 * mounted for the measurement. Only root can mount; otherwise the rows say that they were skipped.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { without, type Bench, type Row, type Testbed } from '../harness/rows.js';
import { builds, RAW_FETCH, RAW_JOURNAL } from '../harness/subjects.js';
import { TITLES } from '../variants/workloads.js';
import { compareRuns, RUN_TARGETS } from './runs.js';

const SIZE = '3G';
const OVER_MS = { w1: 6, w2: 10, w3: 12 };

export const journaledDisk: Bench = {
  name: 'journaled disk',
  minutes: 2,
  async run(testbed) {
    const folder = testbed.folder('journaled');
    const mounted = mountImage(folder);
    if (typeof mounted === 'string') return [without('W1 to W3 on ext4 with a journal', `skipped: ${mounted}`)];
    try {
      return await measureOn(inside(testbed, mounted.folder));
    } finally {
      mounted.unmount();
    }
  },
};

async function measureOn(testbed: Testbed): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { workload, runs } of RUN_TARGETS) {
    const target = { workload, runs, overMs: OVER_MS[workload] };
    const everybody = [RAW_FETCH, RAW_JOURNAL, ...builds(testbed)];
    rows.push(...(await compareRuns(testbed, target, everybody, `on ext4 with a journal: ${TITLES[workload]}`)));
  }
  return rows;
}

/** The reason, in words, if it cannot be mounted. */
function mountImage(folder: string): { folder: string; unmount(): void } | string {
  if (process.platform !== 'linux') return 'this is not Linux';
  const image = path.join(folder, 'image');
  const place = path.join(folder, 'disk');
  fs.mkdirSync(place);
  const run = (command: string, ...args: string[]): void =>
    void execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  try {
    run('truncate', '--size', SIZE, image);
    run('mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=0,lazy_journal_init=0', image);
    run('mount', '-o', 'loop', image, place);
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return (stderr || message).trim().split('\n')[0]!;
  }
  return { folder: place, unmount: () => run('umount', place) };
}

function inside(testbed: Testbed, root: string): Testbed {
  let count = 0;
  return {
    ...testbed,
    folder(name) {
      const folder = path.join(root, `${name}-${++count}`);
      fs.mkdirSync(folder);
      return folder;
    },
  };
}
