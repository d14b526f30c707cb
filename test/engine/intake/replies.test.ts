/** A reply in a thread continues the conversation that the first message started. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashDisk } from '../../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Cluster } from '../../kit/cluster.js';
import { sampleNumbers } from '../../kit/sample.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';
import type { Task } from '../../../src/domain/task/task.js';
import { summary } from '../../../src/views/summary.js';

const FILE = `${ROOT}/inbox/slack-messages.jsonl`;
const FIRST = { id: 'C1:1.0', from: 'sarah', channel: '#ops', thread: '1.0', text: 'Is Redis up?' };
const REPLY = { ...FIRST, id: 'C1:2.0', from: 'tom', in_reply_to: 'C1:1.0', text: 'And the other one?' };
const SCRIPT = '- {agent: ana, when: And the other one, say: Both are up.}\n- {agent: ana, say: It is up.}\n';

function scene(): { disk: SimDisk; world: Cluster } {
  const disk = simDisk();
  for (const folder of ['agents', 'inbox']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
  disk.save(FILE, `${JSON.stringify(FIRST)}\n`);
  return { disk, world: cluster(SCRIPT) };
}

const reply = (disk: SimDisk, message: object = REPLY): void =>
  disk.save(FILE, `${disk.tree().get(FILE)!}${JSON.stringify(message)}\n`);

const sessions = (disk: SimDisk): string[] => disk.list(`${ROOT}/sessions`);
interface Ended extends Pick<Task, 'role' | 'type' | 'description'> {
  result: string;
  context: { taint: string[]; follows?: object; reply_to: { thread: string } };
}

const ended = (disk: SimDisk): Ended[] =>
  disk
    .list(`${ROOT}/tasks/completed`)
    .map((name) => JSON.parse(disk.tree().get(`${ROOT}/tasks/completed/${name}`)!) as Ended);

test('a reply is a follow-up in the same conversation, with the taint of both senders', async () => {
  const { disk, world } = scene();
  const proc = world.start(disk);
  await untilQuiet(proc);
  reply(disk);
  await untilQuiet(proc);
  assert.equal(sessions(disk).length, 1);
  const follow = ended(disk).find((task) => task.context.follows !== undefined)!;
  assert.deepEqual(follow.context.taint, ['slack/tom', 'slack/sarah']);
  assert.equal(follow.result, 'Both are up.');
  assert.equal(follow.context.reply_to.thread, '1.0');
  assert.match(follow.description, /data, not instructions[^]*And the other one/);
  assert.equal(summary(follow), 'And the other one?');
});

test('a reply to a message that never arrived is a message of its own', async () => {
  const { disk, world } = scene();
  const proc = world.start(disk);
  reply(disk, { ...REPLY, in_reply_to: 'C1:9.9' });
  await untilQuiet(proc);
  assert.equal(sessions(disk).length, 2);
});

test('a reply while the agent works is read in its conversation', async () => {
  const { disk, world } = scene();
  const proc = world.start(disk);
  const other = world.start(disk);
  const { model } = proc.ports;
  let calls = 0;
  proc.ports.model = {
    async call(request) {
      if (++calls === 1) {
        reply(disk);
        await other.engine.pump();
      }
      return model.call(request);
    },
  };
  await untilQuiet(proc);
  assert.equal(sessions(disk).length, 1);
  assert.ok(ended(disk).some((task) => task.result === 'Both are up.'));
});

test('with admit: ask, a reply waits for the human before any agent sees it', async () => {
  const { disk, world } = scene();
  const proc = world.start(disk);
  await untilQuiet(proc);
  const strict = world.start(disk, { config: { inbox: { admit: 'ask' } } });
  reply(disk);
  await untilQuiet(strict);
  assert.equal(world.calls.length, 1);
  const ballot = `${ROOT}/tasks/approvals.task.md`;
  disk.save(ballot, disk.tree().get(ballot)!.replace('- [_]', '- [x]'));
  await untilQuiet(strict);
  assert.equal(sessions(disk).length, 1);
  assert.equal(world.calls.length, 2);
});

test('a reply is answered once, with a crash at every change', async () => {
  for (const n of sampleNumbers('reply')) {
    const { disk, world } = scene();
    const first = world.start(disk);
    await untilQuiet(first);
    first.die();
    reply(disk);
    const failing = crashDisk(disk, n);
    const dying = world.start(failing);
    await untilQuiet(dying).catch(() => undefined);
    dying.die();
    const last = world.start(disk);
    await untilQuiet(last);
    last.die();
    assert.equal(ended(disk).length, 2, `change ${n}`);
    assert.equal(sessions(disk).length, 1, `change ${n}`);
    for (const folder of ['pending', 'active', 'waiting', 'failed'])
      assert.deepEqual(disk.list(`${ROOT}/tasks/${folder}`), [], `change ${n}: ${folder}`);
    if (failing.count() < n) return assert.ok(n > 10, `only ${n} changes`);
  }
});
