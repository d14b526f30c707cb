/**
 * An acknowledged end survives every crash and power cut: the record, its page and its children. A
 * task of three children fails, is retried at once and succeeds, so that each has an earlier end
 * that could be mistaken for the later one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lag } from '../../src/adapters/files/base/lag.js';
import { crashDisk } from '../kit/crash-disk.js';
import { AT_ONCE, cluster, ROOT, untilQuiet, WHEN_ASKED, type Proc, type Cluster } from '../kit/cluster.js';
import { sampleNumbers } from '../kit/sample.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { seeded } from '../kit/sim-processes.js';
import { writeStory } from '../kit/stories.js';
import { agent } from '../kit/stories/story.js';

const SCRIPT = `
- {agent: boss, times: 1, fail: auth}
- {agent: legal, say: It is lawful.}
- {agent: money, say: It is cheap.}
- {agent: boss, say: Yes then.}
`;
const PARTS = ['plan.advisor-legal', 'plan.advisor-money', 'plan.work'];

for (const [name, lag, from] of [
  ['when it must', WHEN_ASKED, 1],
  ['at once', AT_ONCE, 2],
] as const) {
  test(`an acknowledged end survives a crash at every change, with a disk that follows ${name}`, async () => {
    for (const k of sampleNumbers(`acknowledged ${name}`)) {
      const n = from + 2 * (k - 1);
      if (await toldIsFound(n, n % 3, lag)) continue;
      return assert.ok(n > 20, `only ${n} changes were tried`);
    }
  });
}

/** The process dies at change `n`, and the power then fails `cuts` times. */
async function toldIsFound(n: number, cuts: number, lag: Lag): Promise<boolean> {
  const disk = simDisk();
  const advised = agent('description: Decides\nadvisors: [legal, money]');
  const agents = { boss: advised, legal: agent('description: Law'), money: agent('description: Sums') };
  writeStory(disk, {
    name: '',
    agents,
    tasks: { plan: { description: 'Go', to: 'boss' } },
    script: '',
    results: {},
    calls: 0,
  });
  for (const file of disk.tree().keys()) await disk.sync(file);
  const world = cluster(SCRIPT, [], lag);
  const failing = crashDisk(disk, n);
  const acknowledged = await workUntilItDies(world, failing, disk);
  const where = `died at change ${n}, ${cuts} power cuts`;
  for (let cut = 1; cut <= Math.max(1, cuts); cut++) {
    if (cut <= cuts) disk.powerCut(seeded(n * 10 + cut));
    const next = world.start(disk);
    await next.ports.presence.sweep();
    if (acknowledged !== undefined) assert.deepEqual(found(disk), acknowledged, where);
    next.die();
  }
  const last = world.start(disk);
  await untilQuiet(last, 400);
  if (disk.stamp(`${ROOT}/tasks/failed/plan.json`) !== undefined) await retry(last);
  await untilQuiet(last, 400);
  await last.store.close();
  last.die();
  assert.match(found(disk).page ?? '', /Yes then/, where);
  assert.deepEqual(found(disk).parts, PARTS, where);
  await world.start(disk).ports.presence.sweep();
  assert.deepEqual(disk.list(`${ROOT}/.guild/journal`), [], where);
  if (cuts === 0) assert.ok(world.calls.length <= 6, `${where}: ${world.calls.length} calls`);
  return failing.count() >= n;
}

interface Found {
  record: string | undefined;
  page: string | undefined;
  parts: string[];
}

/** The expected state: the task at its last acknowledged end, unless it was being retried. */
async function workUntilItDies(
  world: Cluster,
  failing: ReturnType<typeof crashDisk>,
  disk: SimDisk,
): Promise<Found | undefined> {
  let acknowledged: Found | undefined;
  let proc: Proc | undefined;
  try {
    proc = world.start(failing, {
      watchers: {
        event({ name, task }) {
          if (task !== 'plan') return;
          if (name === 'task.completed' || name === 'task.failed') acknowledged = { ...found(disk), parts: PARTS };
        },
      },
    });
    await passes(proc);
    const before = acknowledged;
    acknowledged = undefined;
    await retry(proc).catch((thrown: unknown) => {
      acknowledged = before;
      throw thrown;
    });
    await passes(proc);
    await proc.ports.flush();
    await proc.store.close();
  } catch {
    // it died
  }
  proc?.die();
  return acknowledged;
}

async function retry(proc: Proc): Promise<void> {
  const at = '2026-01-01T00:00:00.000Z';
  await proc.ports.intents.submit({ kind: 'retry', id: 'again', task: 'plan', by: 'human', at });
}

function found(disk: SimDisk): Found {
  const tree = disk.tree();
  const ended = ['completed', 'failed'].flatMap((state) => disk.list(`${ROOT}/tasks/${state}`));
  const ids = ended.map((name) => name.slice(0, -'.json'.length)).filter((id) => id !== 'plan');
  return {
    record: tree.get(`${ROOT}/tasks/completed/plan.json`) ?? tree.get(`${ROOT}/tasks/failed/plan.json`),
    page: tree.get(`${ROOT}/results/plan.md`),
    parts: ids.sort(),
  };
}

/** Fast passes in a row, without waiting for the disk. */
async function passes({ engine }: Proc): Promise<void> {
  for (let look: 'all' | 'none' = 'all'; ; look = 'none') {
    const { moved } = await engine.pass(look, () => undefined);
    if (!moved && engine.flights.size === 0) return;
    await Promise.all([...engine.flights.values()].map(({ done }) => done));
  }
}
