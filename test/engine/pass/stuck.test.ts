/** Work without progress is reported once, with its reason, and without false alarms. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { IDLE_TURNS, stuck, type Stuck } from '../../../src/engine/pass/stuck.js';
import { cluster, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const AT = '2026-01-01T00:00:00.000Z';
const agent = (front: string): string => `---\n${front}\n---\nWork.\n`;

function start(): { proc: Proc; slow: Stuck; reported(): Promise<Event[]> } {
  const disk = simDisk();
  writeStory(disk, {
    name: 's',
    agents: { ann: agent('description: A') },
    tasks: {},
    script: '',
    results: {},
    calls: 0,
  });
  const proc = cluster('- {say: x}').start(disk);
  const slow = stuck(proc.ports, (id) => id.split('.')[0]!);
  const reported = async (): Promise<Event[]> => {
    await slow.report();
    return (await proc.ports.events.list()).filter(({ name }) => name === 'work.stuck');
  };
  return { proc, slow, reported };
}

const turn = (task: string): Event => ({ at: AT, name: 'model.answered', task });

test('turns under one root that change nothing are reported once', async () => {
  const { slow, reported } = start();
  for (let n = 1; n < IDLE_TURNS; n++) slow.heard(turn(n % 2 ? 't' : 't.call-1'));
  assert.deepEqual(await reported(), []);
  slow.heard(turn('t'));
  for (let n = 0; n < 3 * IDLE_TURNS; n++) slow.heard(turn('t'));
  assert.deepEqual(
    (await reported()).map((event) => [event.task, event['kind']]),
    [['t', 'no_progress']],
  );
});

test('creating or ending a task, or an effect, counts as progress; reading does not', async () => {
  const changes: Event[] = [
    { at: AT, name: 'task.created', task: 't.call-1' },
    { at: AT, name: 'task.completed', task: 't.call-1' },
    { at: AT, name: 'tool.ran', task: 't', tool: 'write_file', ok: true },
  ];
  for (const change of changes) {
    const { slow, reported } = start();
    for (let n = 1; n < 2 * IDLE_TURNS - 2; n++) {
      if (n === IDLE_TURNS - 1) slow.heard(change);
      slow.heard(turn('t'));
    }
    assert.deepEqual(await reported(), [], change.name);
  }
  for (const change of [
    { at: AT, name: 'tool.ran', task: 't', tool: 'read_file', ok: true },
    { at: AT, name: 'tool.ran', task: 't', tool: 'write_file', ok: false },
    { at: AT, name: 'task.created', task: 'another' },
  ] as Event[]) {
    const { slow, reported } = start();
    for (let n = 1; n <= IDLE_TURNS; n++) {
      if (n === IDLE_TURNS - 1) slow.heard(change);
      slow.heard(turn('t'));
    }
    assert.equal((await reported()).length, 1, `${change.name} of ${change.task}`);
  }
});

const asked = (id: string, more: Partial<Task> = {}): Task =>
  makeTask({ id, description: id, to: 'ann', created_at: AT, ...more });
const LATER = '2026-01-01T00:00:01.000Z';

test('a task that later, less urgent tasks overtake is reported as starved once', async () => {
  const { proc, slow, reported } = start();
  const old = asked('old');
  const overtake = (id: string, more: Partial<Task> = {}, agent = 'ann'): void => {
    slow.passedOver(asked(id, { created_at: LATER, ...more }), agent);
    slow.started(id, agent);
  };
  slow.passedOver(old, 'ann');
  for (let n = 0; n < 4; n++) overtake(`a${n}`);
  await proc.ports.clock.sleep(11 * 60_000);
  for (let n = 0; n < 9; n++) overtake(`urgent${n}`, { priority: 'A' });
  for (let n = 0; n < 9; n++) overtake(`before${n}`, { created_at: '2025-12-31T00:00:00.000Z' });
  for (let n = 0; n < 9; n++) overtake(`b${n}`, {}, 'ben');
  slow.passedOver(old, 'ann');
  assert.deepEqual(
    await reported(),
    [],
    'more urgent tasks, earlier tasks and tasks of other agents do not overtake it',
  );
  overtake('a5', { priority: 'D' });
  slow.passedOver(old, 'ann');
  slow.passedOver(old, 'ann');
  assert.deepEqual(
    (await reported()).map((event) => [event.task, event['kind']]),
    [['old', 'starved']],
  );
  assert.match(String((await reported())[0]!['why']), /11 minutes, and 5 tasks of ann started before it/);
});

test('if no task of an agent starts, only the first in the queue is reported as starved', async () => {
  const { proc, slow, reported } = start();
  const line = [asked('urgent', { priority: 'B' }), asked('first'), asked('second', { created_at: LATER })];
  const pass = (): void => line.forEach((task) => slow.passedOver(task, 'ann'));
  pass();
  await proc.ports.clock.sleep(9 * 60_000);
  slow.started('another', 'ann');
  await proc.ports.clock.sleep(9 * 60_000);
  pass();
  assert.deepEqual(await reported(), [], 'a task started nine minutes ago');
  await proc.ports.clock.sleep(2 * 60_000);
  pass();
  assert.deepEqual(
    (await reported()).map((event) => [event.task, event['why']]),
    [['urgent', 'it has been ready for 20 minutes, and no task of ann started for 11 minutes']],
  );
});

test('a task that starts as soon as it is seen counts as overtaking', async () => {
  const { proc, slow, reported } = start();
  slow.passedOver(asked('old'), 'ann');
  for (let n = 0; n < 5; n++) {
    await proc.ports.tasks.create(asked(`new${n}`, { created_at: LATER }));
    slow.started(`new${n}`, 'ann');
  }
  await proc.ports.clock.sleep(11 * 60_000);
  slow.passedOver(asked('old'), 'ann');
  assert.equal((await reported()).length, 1);
});

test('tasks that other processes ended are forgotten', () => {
  const { slow } = start();
  for (let n = 0; n < 1000; n++) {
    slow.passedOver(asked(`gone${n}`), 'ann');
    slow.heard(turn(`root${n}`));
  }
  assert.ok(slow.remembered() <= 101, `${slow.remembered()} are remembered although none is open`);
});

test('a long queue that moves, with urgent work first, is not reported', async () => {
  const disk = simDisk();
  const urgent = Array.from({ length: 8 }, (_, n) => [`a${n}`, { description: 'Now', to: 'ann', priority: 'A' }]);
  writeStory(disk, {
    name: 's',
    agents: { ann: agent('description: A\nmax_concurrent_tasks: 1') },
    tasks: { low: { description: 'Low', to: 'ann', priority: 'D' }, ...Object.fromEntries(urgent) },
    script: '',
    results: {},
    calls: 0,
  });
  const proc = cluster('- {agent: ann, wait: 3m, say: Done.}').start(disk);
  await untilQuiet(proc);
  const events = await proc.ports.events.list();
  assert.equal(events.filter((event) => event.name === 'task.completed').length, 9);
  assert.deepEqual(
    events.filter((event) => event.name === 'work.stuck'),
    [],
  );
});
