/** Schedules on a clock that the test owns: runs, missed runs, changes, and places of mistakes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Problem } from '../../../src/domain/problem.js';
import { cluster, ROOT, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';

const HOUR = 3_600_000;
const SCRIPT = '- {agent: ana, say: Done.}\n';

/** The clock of the cluster starts at midnight UTC on 1 January 2026, a Thursday. */
function scene(files: Record<string, string>): { disk: SimDisk; proc: Proc; problems: Problem[] } {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
  for (const [name, text] of Object.entries(files)) disk.save(`${ROOT}/${name}`, text);
  const problems: Problem[] = [];
  const proc = cluster(SCRIPT).start(disk, { watchers: { problem: (each) => void problems.push(each) } });
  return { disk, proc, problems };
}

async function pass(proc: Proc, hours: number): Promise<void> {
  await proc.ports.clock.sleep(hours * HOUR);
  await untilQuiet(proc);
}

const ended = (disk: SimDisk): string[] => disk.list(`${ROOT}/tasks/completed`).sort();
const record = (disk: SimDisk, path: string): { schedule: Record<string, string>; waits: { until: string } } =>
  JSON.parse(disk.tree().get(`${ROOT}/${path}`)!) as never;

const DAILY = JSON.stringify({ description: 'Report', to: 'ana', schedule: '0 9 * * *' });

test('a task file with a schedule gets one run for each due time, and is not worked on itself', async () => {
  const { disk, proc } = scene({ 'tasks/pending/daily.json': DAILY });
  await untilQuiet(proc);
  assert.deepEqual(ended(disk), [], 'nothing is due yet');
  assert.equal(record(disk, 'tasks/waiting/daily.json').waits.until, '2026-01-01T09:00:00.000Z');
  await pass(proc, 9);
  await pass(proc, 24);
  assert.deepEqual(ended(disk), ['daily-20260101T0900Z.json', 'daily-20260102T0900Z.json']);
  assert.equal(record(disk, 'tasks/waiting/daily.json').schedule['run'], 'daily-20260102T0900Z');
});

test('a schedule without a time zone uses the one in guild.yaml', async () => {
  const { disk, proc } = scene({ 'guild.yaml': 'timezone: Asia/Tokyo\n', 'tasks/pending/daily.json': DAILY });
  await untilQuiet(proc);
  const { waits, schedule } = record(disk, 'tasks/waiting/daily.json');
  assert.deepEqual([waits.until, schedule['timezone']], ['2026-01-02T00:00:00.000Z', 'Asia/Tokyo']);
});

test('a pass between due times changes nothing', async () => {
  const { disk, proc } = scene({ 'tasks/pending/daily.json': DAILY });
  await untilQuiet(proc);
  const before = [...disk.tree()].filter(([name]) => name.startsWith(`${ROOT}/tasks`));
  await pass(proc, 1);
  assert.deepEqual(
    [...disk.tree()].filter(([name]) => name.startsWith(`${ROOT}/tasks`)),
    before,
  );
});

test('due times that passed while nothing ran are only reported, and only once', async () => {
  const { disk, proc, problems } = scene({ 'tasks/pending/daily.json': DAILY });
  await untilQuiet(proc);
  await pass(proc, 24 * 3);
  assert.deepEqual(ended(disk), []);
  assert.equal(problems.length, 1);
  assert.match(problems[0]!.message, /schedule daily: 3 runs were missed from 2026-01-01T09.* to 2026-01-03T09/);
  await pass(proc, 1);
  assert.equal(problems.length, 1);
  await pass(proc, 8);
  assert.deepEqual(ended(disk), ['daily-20260104T0900Z.json'], 'the next one is on time');
});

test('with "missed: once" the last missed run takes place late, and the others are reported', async () => {
  const schedule = { cron: '0 9 * * *', missed: 'once' };
  const { disk, proc, problems } = scene({
    'tasks/pending/daily.json': JSON.stringify({ description: 'Report', to: 'ana', schedule }),
  });
  await untilQuiet(proc);
  await pass(proc, 24 * 3);
  assert.deepEqual(ended(disk), ['daily-20260103T0900Z.json']);
  assert.match(problems[0]!.message, /2 runs were missed/);
});

test('a due time is skipped while the run before it is open', async () => {
  const { disk, proc, problems } = scene({
    'tasks/pending/hourly.json': JSON.stringify({ description: 'x', to: 'human', schedule: '0 * * * *' }),
  });
  await untilQuiet(proc);
  await pass(proc, 1);
  await pass(proc, 1);
  const runs = disk.list(`${ROOT}/tasks/pending`);
  assert.deepEqual(runs, ['hourly-20260101T0100Z.json']);
  assert.match(problems[0]!.message, /1 run was missed at 2026-01-01T02.*: the run before it had not ended/);
});

test('the time zone decides, also when the clocks change', async () => {
  const task = { description: 'x', to: 'ana', schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' } };
  const { disk, proc } = scene({ 'tasks/pending/night.json': JSON.stringify(task) });
  await proc.ports.clock.sleep(Date.parse('2026-10-24T12:00:00Z') - proc.ports.clock.now().getTime());
  await untilQuiet(proc);
  for (let hour = 0; hour < 48; hour++) await pass(proc, 0.5);
  // 02:30 happens twice in the night to 25 October.
  assert.deepEqual(ended(disk), ['night-20261025T0030Z.json']);
});

test('a changed schedule waits for its new time, and starts without missed runs', async () => {
  const { disk, proc, problems } = scene({ 'tasks/pending/daily.json': DAILY });
  await untilQuiet(proc);
  const name = 'tasks/waiting/daily.json';
  disk.save(`${ROOT}/${name}`, disk.tree().get(`${ROOT}/${name}`)!.replace('0 9 * * *', '30 * * * *'));
  await untilQuiet(proc);
  assert.equal(record(disk, name).waits.until, '2026-01-01T00:30:00.000Z');
  assert.deepEqual(problems, []);
});

test('a task file whose schedule cannot be read is a problem with its place', async () => {
  const { proc, problems } = scene({
    'tasks/pending/bad.json': '{\n  "description": "x",\n  "schedule": "61 * * * *"\n}\n',
  });
  await untilQuiet(proc);
  assert.match(problems[0]!.message, /"61" is not a minute \(0 to 59\)/);
  assert.equal(problems[0]!.where?.line, 3);
});

test('a board line with a schedule gets runs, may be changed, and ends when it is removed', async () => {
  const file = 'tasks/week.task.md';
  const line = (cron: string): string => `## TODO\n\n- [ ] @ana "Report" schedule: "${cron}" timezone: UTC id: rep\n`;
  const { disk, proc, problems } = scene({ [file]: line('0 9 * * *') });
  await untilQuiet(proc);
  await pass(proc, 9);
  assert.deepEqual(ended(disk), ['rep-20260101T0900Z.json'], problems.map((each) => each.message).join());
  assert.match(disk.tree().get(`${ROOT}/${file}`)!, /- \[ \] @ana "Report"/, 'its box stays open');
  disk.save(`${ROOT}/${file}`, line('0 12 * * *'));
  await pass(proc, 3);
  assert.deepEqual(ended(disk), ['rep-20260101T0900Z.json']);
  await pass(proc, 24);
  assert.deepEqual(ended(disk), ['rep-20260101T0900Z.json', 'rep-20260102T1200Z.json']);
  disk.save(`${ROOT}/${file}`, '## TODO\n');
  await pass(proc, 24);
  assert.deepEqual(disk.list(`${ROOT}/tasks/failed`), ['rep.json']);
  assert.equal(ended(disk).length, 2);
});

test('a board line whose schedule cannot be read is a problem with its place', async () => {
  const { proc, problems } = scene({ 'tasks/week.task.md': '## TODO\n\n- [ ] @ana "Report" schedule: "9 o’clock"\n' });
  await untilQuiet(proc);
  assert.match(problems[0]!.message, /a schedule has five fields/);
  assert.deepEqual(problems[0]!.where?.line, 3);
  assert.ok((problems[0]!.where?.column ?? 0) > 20);
});

test('schedules of guild.yaml take effect, change and end without a restart', async () => {
  const yaml = (cron: string): string =>
    `timezone: UTC\nschedules:\n  rep: {schedule: "${cron}", agent: ana, task: Report}\n`;
  const { disk, proc } = scene({ 'guild.yaml': yaml('0 9 * * *') });
  await untilQuiet(proc);
  await pass(proc, 9);
  assert.deepEqual(ended(disk), ['schedule-rep-20260101T0900Z.json']);
  disk.save(`${ROOT}/guild.yaml`, yaml('0 10 * * *'));
  await untilQuiet(proc);
  await pass(proc, 1);
  assert.deepEqual(ended(disk).length, 2);
  disk.save(`${ROOT}/guild.yaml`, 'timezone: UTC\n');
  await pass(proc, 24);
  assert.deepEqual(disk.list(`${ROOT}/tasks/failed`), ['schedule-rep.json']);
  disk.save(`${ROOT}/guild.yaml`, yaml('0 10 * * *'));
  await untilQuiet(proc);
  await pass(proc, 24);
  assert.equal(ended(disk).length, 3);
  assert.deepEqual(disk.list(`${ROOT}/tasks/failed`), []);
});
