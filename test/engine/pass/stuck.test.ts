/** Work that does not come on: told once, with its reason, and only when it is so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import { makeTask, type Task } from '../../../src/domain/task/task.js';
import { IDLE_TURNS, stuck, type Stuck } from '../../../src/engine/pass/stuck.js';
import { cluster, untilQuiet, type Proc } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { lay } from '../../kit/stories.js';

const AT = '2026-01-01T00:00:00.000Z';
const agent = (front: string): string => `---\n${front}\n---\nWork.\n`;

function begin(): { proc: Proc; slow: Stuck; told(): Promise<Event[]> } {
  const disk = simDisk();
  lay(disk, { name: 's', agents: { ann: agent('description: A') }, tasks: {}, script: '', results: {}, calls: 0 });
  const proc = cluster('- {say: x}').start(disk);
  const slow = stuck(proc.ports, (id) => id.split('.')[0]!);
  const told = async (): Promise<Event[]> => {
    await slow.tell();
    return (await proc.ports.events.list()).filter(({ name }) => name === 'work.stuck');
  };
  return { proc, slow, told };
}

const turn = (task: string): Event => ({ at: AT, name: 'model.answered', task });

test('turn after turn under one root, and nothing changes: told once', async () => {
  const { slow, told } = begin();
  for (let n = 1; n < IDLE_TURNS; n++) slow.heard(turn(n % 2 ? 't' : 't.call-1'));
  assert.deepEqual(await told(), []);
  slow.heard(turn('t'));
  for (let n = 0; n < 3 * IDLE_TURNS; n++) slow.heard(turn('t'));
  assert.deepEqual(
    (await told()).map((one) => [one.task, one['kind']]),
    [['t', 'no_progress']],
  );
});

test('whoever makes or ends a task, or has an effect, comes on; who only reads does not', async () => {
  const changes: Event[] = [
    { at: AT, name: 'task.created', task: 't.call-1' },
    { at: AT, name: 'task.completed', task: 't.call-1' },
    { at: AT, name: 'tool.ran', task: 't', tool: 'write_file', ok: true },
  ];
  for (const change of changes) {
    const { slow, told } = begin();
    for (let n = 1; n < 2 * IDLE_TURNS - 2; n++) {
      if (n === IDLE_TURNS - 1) slow.heard(change);
      slow.heard(turn('t'));
    }
    assert.deepEqual(await told(), [], change.name);
  }
  for (const change of [
    { at: AT, name: 'tool.ran', task: 't', tool: 'read_file', ok: true },
    { at: AT, name: 'tool.ran', task: 't', tool: 'write_file', ok: false },
    { at: AT, name: 'task.created', task: 'another' },
  ] as Event[]) {
    const { slow, told } = begin();
    for (let n = 1; n <= IDLE_TURNS; n++) {
      if (n === IDLE_TURNS - 1) slow.heard(change);
      slow.heard(turn('t'));
    }
    assert.equal((await told()).length, 1, `${change.name} of ${change.task}`);
  }
});

const asked = (id: string, more: Partial<Task> = {}): Task =>
  makeTask({ id, description: id, to: 'ann', created_at: AT, ...more });
const LATER = '2026-01-01T00:00:01.000Z';

test('starved: others that came later and are no more urgent begin again and again; told once', async () => {
  const { proc, slow, told } = begin();
  const old = asked('old');
  const overtake = (id: string, more: Partial<Task> = {}, agent = 'ann'): void => {
    slow.passedOver(asked(id, { created_at: LATER, ...more }), agent);
    slow.began(id, agent);
  };
  slow.passedOver(old, 'ann');
  for (let n = 0; n < 4; n++) overtake(`a${n}`);
  await proc.ports.clock.sleep(11 * 60_000);
  for (let n = 0; n < 9; n++) overtake(`urgent${n}`, { priority: 'A' });
  for (let n = 0; n < 9; n++) overtake(`before${n}`, { created_at: '2025-12-31T00:00:00.000Z' });
  for (let n = 0; n < 9; n++) overtake(`b${n}`, {}, 'ben');
  slow.passedOver(old, 'ann');
  assert.deepEqual(
    await told(),
    [],
    'what is more urgent, or came before it, or is for another, takes nothing from it',
  );
  overtake('a5', { priority: 'D' });
  slow.passedOver(old, 'ann');
  slow.passedOver(old, 'ann');
  assert.deepEqual(
    (await told()).map((one) => [one.task, one['kind']]),
    [['old', 'starved']],
  );
  assert.match(String((await told())[0]!['why']), /11 minutes, and 5 tasks of ann that came later/);
});

test('starved: nothing of its agent begins at all; told of the first in line only', async () => {
  const { proc, slow, told } = begin();
  const line = [asked('urgent', { priority: 'B' }), asked('first'), asked('second', { created_at: LATER })];
  const pass = (): void => line.forEach((task) => slow.passedOver(task, 'ann'));
  pass();
  await proc.ports.clock.sleep(9 * 60_000);
  slow.began('another', 'ann');
  await proc.ports.clock.sleep(9 * 60_000);
  pass();
  assert.deepEqual(await told(), [], 'something began nine minutes ago');
  await proc.ports.clock.sleep(2 * 60_000);
  pass();
  assert.deepEqual(
    (await told()).map((one) => [one.task, one['why']]),
    [['urgent', 'it could begin for 20 minutes, and nothing of ann began for 11 minutes']],
  );
});

test('one that begins the moment it is seen has come later too', async () => {
  const { proc, slow, told } = begin();
  slow.passedOver(asked('old'), 'ann');
  for (let n = 0; n < 5; n++) {
    await proc.ports.tasks.create(asked(`new${n}`, { created_at: LATER }));
    slow.began(`new${n}`, 'ann');
  }
  await proc.ports.clock.sleep(11 * 60_000);
  slow.passedOver(asked('old'), 'ann');
  assert.equal((await told()).length, 1);
});

test('what other processes ended is forgotten', () => {
  const { slow } = begin();
  for (let n = 0; n < 1000; n++) {
    slow.passedOver(asked(`gone${n}`), 'ann');
    slow.heard(turn(`root${n}`));
  }
  assert.ok(slow.remembered() <= 101, `${slow.remembered()} are remembered, and none of them is open`);
});

test('in a run: a long queue that moves, with urgent work first, is no starving', async () => {
  const disk = simDisk();
  const urgent = Array.from({ length: 8 }, (_, n) => [`a${n}`, { description: 'Now', to: 'ann', priority: 'A' }]);
  lay(disk, {
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
  assert.equal(events.filter((one) => one.name === 'task.completed').length, 9);
  assert.deepEqual(
    events.filter((one) => one.name === 'work.stuck'),
    [],
  );
});
