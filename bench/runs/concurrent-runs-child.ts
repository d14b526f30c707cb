/**
 * A measured process of concurrent-runs.ts: `ours <folder> <count>` or `raw <url> <count>`.
 * It prints one line of JSON.
 */
import { openWorkspace } from '../../src/app/index.js';
import { rawRun } from '../harness/model-server.js';
import { FACTS } from '../harness/workspace.js';

const [kind, rootOrUrl, count] = process.argv.slice(2);
const runs = Number(count);
const result = kind === 'raw' ? await raw(rootOrUrl!) : await ours(rootOrUrl!);
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit();

interface Measured {
  perSecond: number;
  /** Growth of the peak resident memory, divided by the number of runs. */
  kbEach: number;
}

async function raw(url: string): Promise<Measured> {
  await rawRun(url, () => FACTS);
  return measured(() => Promise.all(Array.from({ length: runs }, () => rawRun(url, () => FACTS))));
}

async function ours(root: string): Promise<Measured> {
  let ended = 0;
  const stop = new AbortController();
  const failed: string[] = [];
  const workspace = await openWorkspace(root, {
    watchers: {
      event({ name, error }) {
        if (name === 'task.failed') failed.push(JSON.stringify(error));
        if ((name === 'task.completed' || name === 'task.failed') && ++ended === runs) stop.abort();
      },
    },
  });
  const result = await measured(() => workspace.watch(stop.signal));
  await workspace.close();
  if (failed.length > 0) throw new Error(`${failed.length} failed, the first with ${failed[0]}`);
  return result;
}

async function measured(work: () => Promise<unknown>): Promise<Measured> {
  const idle = process.memoryUsage.rss();
  const from = performance.now();
  await work();
  const seconds = (performance.now() - from) / 1000;
  return { perSecond: runs / seconds, kbEach: (process.resourceUsage().maxRSS - idle / 1024) / runs };
}
