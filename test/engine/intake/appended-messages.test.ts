/** A message that a person appends to an ended conversation is answered once, in the same file. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../../../src/domain/event.js';
import type { Problem } from '../../../src/domain/problem.js';
import { cluster, ROOT, untilQuiet, type Cluster, type Proc } from '../../kit/cluster.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';

const SCRIPT = `
- {agent: ana, when: And the second, say: It is two.}
- {agent: ana, when: Which first, say: It is one.}
`;
const FILE = `${ROOT}/sessions/ana-ask.session.yaml`;

interface Scene {
  disk: SimDisk;
  world: Cluster;
  proc: Proc;
  problems: Problem[];
  events: Event[];
}

function scene(description = 'Which first?'): Scene {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
  disk.save(`${ROOT}/tasks/pending/ask.json`, JSON.stringify({ description, to: 'ana' }));
  const problems: Problem[] = [];
  const events: Event[] = [];
  const world = cluster(SCRIPT);
  const watchers = {
    problem: (each: Problem) => void problems.push(each),
    event: (each: Event) => void events.push(each),
  };
  return { disk, world, proc: world.start(disk, { watchers }), problems, events };
}

function append(disk: SimDisk, text: string, file = FILE): void {
  disk.save(file, `${disk.tree().get(file)!}${text}`);
}

const FIRST = '  - role: user\n    content: Which first?\n  - role: assistant\n    content: It is one.\n';
const SECOND = '  - role: user\n    content: And the second?\n';
const read = (disk: SimDisk): string => disk.tree().get(FILE)!;

test('an appended message becomes a follow-up in the same conversation, once', async () => {
  const { disk, proc, world } = scene();
  await untilQuiet(proc);
  assert.equal(world.calls.length, 1);
  append(disk, SECOND);
  await untilQuiet(proc);
  await untilQuiet(proc);
  const ended = disk.list(`${ROOT}/tasks/completed`).sort();
  assert.equal(ended.length, 2, ended.join());
  assert.match(ended[1]!, /^follow-\w+\.json$/);
  assert.match(read(disk), /And the second\?[^]*It is two\./);
  assert.equal(read(disk).match(/And the second/g)!.length, 1, 'the message is not written a second time');
  assert.equal(world.calls.length, 2);
  const next = world.start(disk);
  await untilQuiet(next);
  assert.equal(world.calls.length, 2, 'another process finds nothing to do');
});

test('a message that was appended while nothing ran is found by the next process', async () => {
  const { disk, proc, world } = scene();
  await untilQuiet(proc);
  proc.die();
  append(disk, SECOND);
  await untilQuiet(world.start(disk));
  assert.match(read(disk), /It is two\./);
});

test('a changed agent file takes effect, and the conversation says so', async () => {
  const { disk, proc, events } = scene();
  await untilQuiet(proc);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork better.\n');
  append(disk, SECOND);
  await untilQuiet(proc);
  assert.equal(events.filter(({ name }) => name === 'session.repinned').length, 1);
  assert.match(read(disk), /Your instructions or tools have changed[^]*It is two\./);
});

test('the request of a failed task is not taken for a message, and a later one is', async () => {
  const { disk, proc, world } = scene('broken');
  await untilQuiet(proc);
  assert.deepEqual(disk.list(`${ROOT}/tasks/failed`), ['ask.json']);
  const calls = world.calls.length;
  const other = world.start(disk);
  await untilQuiet(other);
  assert.equal(world.calls.length, calls);
  append(disk, SECOND);
  await untilQuiet(other);
  assert.match(read(disk), /It is two\./);
});

test('a failed task whose file a person deletes is not worked on again', async () => {
  const { disk, proc, world } = scene('broken');
  await untilQuiet(proc);
  const calls = world.calls.length;
  disk.remove(`${ROOT}/tasks/failed/ask.json`);
  await untilQuiet(world.start(disk));
  assert.equal(world.calls.length, calls);
});

test('a file that is saved half is read again when it is whole', async () => {
  const { disk, proc } = scene();
  await untilQuiet(proc);
  append(disk, '  - role: user\n    content: "And the sec');
  await untilQuiet(proc);
  assert.equal(disk.list(`${ROOT}/tasks/completed`).length, 1);
  append(disk, 'ond?"\n');
  await untilQuiet(proc);
  assert.match(read(disk), /It is two\./);
});

test('a conversation that is put into the folder is answered with taint, or refused with a reason', async () => {
  const { disk, proc, problems } = scene();
  await untilQuiet(proc);
  const copy = (agent: string): string =>
    `${read(disk)
      .replace(/^task: .*\n/m, '')
      .replaceAll('ana', agent)}${SECOND}`;
  disk.save(`${ROOT}/sessions/mine.session.yaml`, copy('ana').replace(/^session_id: .*/m, 'session_id: mine'));
  disk.save(`${ROOT}/sessions/other.session.yaml`, copy('zed').replace(/^session_id: .*/m, 'session_id: other'));
  await untilQuiet(proc);
  assert.match(disk.tree().get(`${ROOT}/sessions/mine.session.yaml`)!, /It is two\./);
  const follow = disk.list(`${ROOT}/tasks/completed`).find((name) => name.startsWith('follow-'))!;
  assert.match(disk.tree().get(`${ROOT}/tasks/completed/${follow}`)!, /session\/mine/);
  assert.deepEqual(
    problems.map(({ code, where }) => [code, where?.file]),
    [['unknown_agent', 'sessions/other.session.yaml']],
  );
});

test('a conversation that cannot be read is reported once with its place, and answered when it is corrected', async () => {
  const { disk, proc, problems } = scene();
  await untilQuiet(proc);
  const whole = read(disk);
  append(disk, '- role: user\n  content: And the second?\n');
  disk.save(`${ROOT}/sessions/mine.session.yaml`, 'agent: ana\nmessages:\n  - role: user\n    content: Which first?\n');
  await untilQuiet(proc);
  await untilQuiet(proc);
  const places = problems.map(({ where }) => [where?.file, where?.line !== undefined]).sort();
  assert.deepEqual(places, [
    ['sessions/ana-ask.session.yaml', true],
    ['sessions/mine.session.yaml', true],
  ]);
  disk.save(FILE, `${whole}${SECOND}`);
  await untilQuiet(proc);
  assert.match(read(disk), /It is two\./);
});

test('the conversation of a child whose record has no name yet is not taken for one that a person put there', async () => {
  const { disk, proc, world } = scene();
  const other = world.start(disk);
  await other.ports.tasks.scan(true);
  const claim = (await other.ports.tasks.claim('ask', 'ana'))!;
  const session = 'session_id: ana-ask.work\nagent_id: ana\nstatus: active\ntask: ask.work\nmessages:\n';
  disk.makeFolder(`${ROOT}/sessions`);
  disk.save(`${ROOT}/sessions/ana-ask.work.session.yaml`, `${session}${FIRST}${SECOND}`);
  await untilQuiet(proc);
  assert.equal(world.calls.length, 0);
  assert.deepEqual(disk.list(`${ROOT}/tasks/pending`), []);
  await other.ports.tasks.settle(claim, { ...claim.task, result: 'x', ended_at: '2026-01-01' }, 'completed');
  await untilQuiet(proc);
  assert.equal(world.calls.length, 1, 'without a task above it, it is answered');
});
