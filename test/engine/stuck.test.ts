/** Work that does not come on: told once, with its reason, and only when it is so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../src/domain/event.js';
import { makeTask } from '../../src/domain/task.js';
import { IDLE_TURNS, stuck, type Stuck } from '../../src/engine/stuck.js';
import { hall, untilQuiet, type Guest } from '../kit/hall.js';
import { simDisk } from '../kit/sim-disk.js';
import { lay } from '../kit/stories.js';

const AT = '2026-01-01T00:00:00.000Z';
const agent = (front: string): string => `---\n${front}\n---\nWork.\n`;

function begin(): { guest: Guest; slow: Stuck; told(): Event[] } {
  const disk = simDisk();
  lay(disk, { name: 's', agents: { ann: agent('description: A') }, tasks: {}, script: '', results: {}, calls: 0 });
  const guest = hall('- {say: x}').enter(disk);
  const slow = stuck(guest.parts, (id) => id.split('.')[0]!);
  return { guest, slow, told: () => guest.parts.store.events().filter(({ name }) => name === 'work.stuck') };
}

const turn = (task: string): Event => ({ at: AT, name: 'model.answered', task });

test('turn after turn under one root, and nothing changes: told once', () => {
  const { slow, told } = begin();
  for (let n = 1; n < IDLE_TURNS; n++) slow.heard(turn(n % 2 ? 't' : 't.call-1'));
  assert.deepEqual(told(), []);
  slow.heard(turn('t'));
  for (let n = 0; n < 3 * IDLE_TURNS; n++) slow.heard(turn('t'));
  assert.deepEqual(
    told().map((one) => [one.task, one['kind']]),
    [['t', 'no_progress']],
  );
});

test('whoever makes or ends a task, or has an effect, comes on; who only reads does not', () => {
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
    assert.deepEqual(told(), [], change.name);
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
    assert.equal(told().length, 1, `${change.name} of ${change.task}`);
  }
});

test('starved: others of its agent begin again and again for ten minutes; told once', async () => {
  const { guest, slow, told } = begin();
  const low = makeTask({ id: 'low', description: 'Low', to: 'ann', created_at: AT });
  slow.passedOver(low, 'ann');
  for (let n = 0; n < 4; n++) slow.began(`a${n}`, 'ann');
  await guest.parts.clock.sleep(11 * 60_000);
  slow.passedOver(low, 'ann');
  for (let n = 0; n < 9; n++) slow.began(`b${n}`, 'ben');
  slow.passedOver(low, 'ann');
  assert.deepEqual(told(), [], 'four others are not many, and those of another agent take nothing from it');
  slow.began('a5', 'ann');
  slow.passedOver(low, 'ann');
  slow.passedOver(low, 'ann');
  assert.deepEqual(
    told().map((one) => [one.task, one['kind']]),
    [['low', 'starved']],
  );
  assert.match(String(told()[0]!['why']), /11 minutes, and 5 other tasks of ann/);
});

test('in a run: an agent that can do one thing at a time and is given more and more urgent work starves the least', async () => {
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
  const guest = hall('- {agent: ann, wait: 3m, say: Done.}').enter(disk);
  await untilQuiet(guest);
  const events = guest.parts.store.events();
  const at = (name: string): number => events.findIndex((one) => one.name === name && one.task === 'low');
  assert.ok(at('work.stuck') >= 0 && at('work.stuck') < at('task.claimed'), 'told before it began at last');
  assert.ok(at('task.completed') > 0, 'and nothing was done about it but that');
});
