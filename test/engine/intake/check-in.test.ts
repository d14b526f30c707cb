/** Planner check-ins: they happen after the interval, and only if work has changed. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Problem } from '../../../src/domain/problem.js';
import type { Disk } from '../../../src/ports/disk.js';
import { crashDisk } from '../../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const FILE = path.join(ROOT, 'storage/planner-checkin.yaml');
const SCRIPT = '- {agent: planner, say: All is well.}\n- {agent: ana, say: Done.}\n';
const MINUTE = 60_000;

interface Office {
  disk: SimDisk;
  house: Cluster;
  proc: Proc;
  problems: Problem[];
  note: () => string;
  checkIns: () => string[];
  /** Advances the clock, then runs passes until nothing moves. */
  wait: (ms: number) => Promise<void>;
}

function office(
  options: { files?: Record<string, string>; checkins?: boolean; planner?: string; on?: (disk: SimDisk) => Disk } = {},
): Office {
  const disk = simDisk();
  const agents = {
    [options.planner ?? 'planner']: '---\ndescription: Plans\n---\nPlan.\n',
    ana: '---\ndescription: A\n---\nDo.\n',
  };
  writeStory(disk, { name: '', agents, files: options.files, tasks: {}, script: SCRIPT, results: {}, calls: 0 });
  const house = cluster(SCRIPT);
  const problems: Problem[] = [];
  const proc = house.start(options.on?.(disk) ?? disk, {
    config: options.checkins === undefined ? {} : { checkins: options.checkins },
    watchers: { problem: (problem) => problems.push(problem) },
  });
  return {
    disk,
    house,
    proc,
    problems,
    note: () => disk.tree().get(FILE) ?? '',
    checkIns: () => house.calls.filter((call) => call.task.startsWith('checkin-')).map((call) => call.task),
    async wait(ms) {
      await proc.ports.clock.sleep(ms);
      await untilQuiet(proc);
    },
  };
}

/** Adds an open task of another agent that never starts. */
function stuck(disk: SimDisk, id: string): void {
  disk.save(
    path.join(ROOT, `tasks/pending/${id}.json`),
    JSON.stringify({ description: `stuck ${id}`, to: 'ana', dependencies: ['never'] }),
  );
}

test('the first pass records the time in the documented format', async () => {
  const it = office({ checkins: true });
  stuck(it.disk, 's1');
  await it.wait(0);
  assert.equal(
    it.note(),
    'last_checkin: "2026-01-01T00:00:00.000Z"\ninterval_seconds: 60\nplanner_session: null\ncheckin_count: 0\nlast_reason: "baseline of the first pass"\n',
  );
  assert.deepEqual(it.checkIns(), []);
});

test('when the interval has passed and work has changed, the planner is asked once', async () => {
  const it = office({ checkins: true });
  await it.wait(0);
  stuck(it.disk, 's1');
  await it.wait(30_000);
  assert.deepEqual(it.checkIns(), [], 'not before the interval has passed');
  await it.wait(35_000);
  assert.deepEqual(it.checkIns(), ['checkin-1']);
  assert.equal(
    it.note(),
    'last_checkin: "2026-01-01T00:01:05.000Z"\ninterval_seconds: 60\nplanner_session: planner-checkin-1.session.yaml\ncheckin_count: 1\nlast_reason: "65s since last check-in (threshold: 60s)"\n',
  );
  const asked = it.house.calls[0]!.messages[0]!.content;
  assert.match(asked, /^Check-in with running agents to ensure progress\n/);
  assert.match(asked, /\| ana-s1 \| ana \| s1 \| pending \| 0 \| stuck s1 \|/);
  assert.ok(it.disk.tree().has(path.join(ROOT, 'sessions/planner-checkin-1.session.yaml')));
});

test('fifty minutes without progress cost one check-in, and fifty more cost nothing', async () => {
  const it = office({ checkins: true });
  await it.wait(0);
  stuck(it.disk, 's1');
  for (let minute = 0; minute < 50; minute++) await it.wait(MINUTE);
  assert.equal(it.house.calls.length, 1);
  const before = it.disk.tree();
  for (let minute = 0; minute < 50; minute++) await it.wait(MINUTE);
  assert.equal(it.house.calls.length, 1);
  assert.deepEqual(it.disk.tree(), before);
  stuck(it.disk, 's2');
  await it.wait(MINUTE);
  assert.deepEqual(it.checkIns(), ['checkin-1', 'checkin-2']);
});

test('fifty minutes without any open work cost no model call', async () => {
  const it = office({ checkins: true });
  for (let minute = 0; minute < 50; minute++) await it.wait(MINUTE);
  assert.equal(it.house.calls.length, 0);
});

test('check-ins are off unless guild.yaml or the check-in file enables them', async () => {
  const off = office();
  stuck(off.disk, 's1');
  for (let minute = 0; minute < 3; minute++) await off.wait(MINUTE);
  assert.equal(off.note(), '');
  assert.equal(off.house.calls.length, 0);
  const empty = office({
    files: { 'storage/planner-checkin.yaml': '# ours\ninterval_seconds: 300 # five minutes\nwho: sarah\n' },
  });
  await empty.wait(0);
  stuck(empty.disk, 's1');
  await empty.wait(299_000);
  assert.deepEqual(empty.checkIns(), []);
  await empty.wait(1000);
  assert.deepEqual(empty.checkIns(), ['checkin-1']);
  assert.match(
    empty.note(),
    /^# ours\ninterval_seconds: 300 # five minutes\nwho: sarah\nlast_checkin: "[^"]+"\nplanner_session: planner-checkin-1/,
  );
  const denied = office({ checkins: false, files: { 'storage/planner-checkin.yaml': '' } });
  await denied.wait(MINUTE);
  assert.equal(denied.note(), '');
  const nobody = office({ checkins: true, planner: 'chief' });
  await nobody.wait(MINUTE);
  assert.equal(nobody.note(), '', 'no planner, no check-in');
});

test('an invalid file stops check-ins with one problem and stays unchanged', async () => {
  for (const [text, expected] of [
    ['interval_seconds: [', /planner-checkin\.yaml/],
    ['interval_seconds: soon\n', /"interval_seconds" must be a number above 0/],
    ['- a list\n', /must be a mapping/],
  ] as const) {
    const it = office({ files: { 'storage/planner-checkin.yaml': text } });
    stuck(it.disk, 's1');
    for (let minute = 0; minute < 5; minute++) await it.wait(MINUTE);
    // The open work waits for a task that does not exist, which is reported too.
    const problems = it.problems.filter(({ code }) => code !== 'not_found');
    assert.equal(problems.length, 1);
    assert.match(`${problems[0]!.where?.file} ${problems[0]!.message}`, expected);
    assert.equal(it.note(), text);
    assert.equal(it.house.calls.length, 0);
    it.disk.save(FILE, 'interval_seconds: 1\nlast_checkin: 2026-01-01T00:00:00Z\n');
    await it.wait(MINUTE);
    assert.deepEqual(it.checkIns(), ['checkin-1'], 'check-ins continue once the file is fixed');
  }
});

test('after the file is removed, check-ins start over with unused numbers', async () => {
  const it = office({ checkins: true });
  await it.wait(0);
  stuck(it.disk, 's1');
  await it.wait(MINUTE);
  it.disk.remove(FILE);
  await it.wait(MINUTE);
  assert.deepEqual(it.checkIns(), ['checkin-1'], 'a new baseline');
  stuck(it.disk, 's2');
  await it.wait(MINUTE);
  assert.deepEqual(it.checkIns(), ['checkin-1', 'checkin-2']);
});

test('a crash at any change neither duplicates nor loses a check-in', async () => {
  let n = 0;
  for (let more = true; more;) {
    n++;
    let failing!: ReturnType<typeof crashDisk>;
    const it = office({ checkins: true, on: (disk) => (failing = crashDisk(disk, n)) });
    const live = async (wait: Office['wait']): Promise<void> => {
      await wait(0);
      if (!it.disk.tree().has(path.join(ROOT, 'tasks/pending/s1.json'))) stuck(it.disk, 's1');
      await wait(MINUTE);
    };
    await live(it.wait).catch(() => undefined);
    more = failing.count() >= n;
    it.proc.die();
    const next = it.house.start(it.disk, { config: { checkins: true } });
    const wait = async (ms: number): Promise<void> => {
      await next.ports.clock.sleep(ms);
      await untilQuiet(next);
    };
    await live(wait);
    await live(wait);
    stuck(it.disk, 's2');
    await wait(MINUTE);
    const made = [...it.disk.tree().keys()].filter((file) => /completed\/checkin-\d+\.json$/.test(file));
    assert.ok(made.length >= 1 && made.length <= 2, `${made.length} check-ins, crash at ${n}`);
    assert.match(it.note(), new RegExp(`^checkin_count: ${made.length}$`, 'm'), `crash at ${n}`);
    assert.deepEqual(it.disk.list(path.join(ROOT, '.guild/tmp')), []);
  }
  assert.ok(n > 20);
});
