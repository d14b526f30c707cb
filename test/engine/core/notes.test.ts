/**
 * Notes on channels of guild.yaml: agents write and read them, the engine stamps and checks them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bus } from '../../../src/adapters/bus/index.js';
import type { Config } from '../../../src/domain/config/config.js';
import { publishNotes, publishNote } from '../../../src/engine/core/notes.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { ModelRequest } from '../../../src/ports/model.js';
import type { Disk } from '../../../src/ports/disk.js';
import { crashDisk } from '../../kit/crash-disk.js';
import { cluster, ROOT, untilQuiet, type Proc, type Cluster } from '../../kit/cluster.js';
import { sampleNumbers } from '../../kit/sample.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk, type SimDisk } from '../../kit/sim-disk.js';

const SCRIPT = `
- {agent: ana, turn: 1, call: [{broadcast: {message: the build is red, channel: news, priority: critical}}]}
- {agent: ana, say: Said.}
- {agent: bob, say: Heard.}
`;
const channels: Config['channels'] = { news: { maxBytes: 1000, writers: ['ana'], readers: ['bob'] } };

function ground(): SimDisk {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  for (const name of ['ana', 'bob']) disk.save(`${ROOT}/agents/${name}.md`, '---\ndescription: d\n---\nWork.\n');
  return disk;
}

function start(house: Cluster, on: Disk): Proc {
  return house.start(on, { config: { channels }, bus: bus({ root: ROOT, disk: on, clock: simClock() }) });
}

function ask(disk: SimDisk, id: string, to: string): void {
  disk.save(`${ROOT}/tasks/pending/${id}.json`, JSON.stringify({ description: 'Do it', to }));
}

test('a reader gets notes before its next turn, urgent ones first, each once', async () => {
  const disk = ground();
  const house = cluster(SCRIPT);
  const proc = start(house, disk);
  const body = { type: 'said', text: 'lunch is at one' } as const;
  assert.equal(await publishNote(proc.ports, { channel: 'news', from: 'human', body, priority: 'low' }), undefined);
  ask(disk, 'first', 'ana');
  await untilQuiet(proc);
  ask(disk, 'second', 'bob');
  await untilQuiet(proc);
  ask(disk, 'third', 'bob');
  await untilQuiet(proc);
  const [, , second, third] = house.calls;
  const asked = (call: ModelRequest): Message[] => call.messages.filter(({ role }) => role === 'user');
  const texts = asked(second!).map(({ content, from }) => `${from}: ${content}`);
  assert.equal(texts.length, 3);
  assert.match(
    texts[1]!,
    /^ana: Note from ana on the channel news \(critical, first\):\n\n<note__\w+ agent="ana">\nthe build is red\n</,
  );
  assert.match(
    texts[2]!,
    /^human: Note from human on the channel news \(low\):\n\n<note__\w+ agent="human">\nlunch is at one\n</,
  );
  assert.equal(asked(third!).length, 1, 'no note is shown twice');
  assert.equal(proc.ports.bus.unread('news', 'ana').length, 2, 'ana is not a reader');
});

test('a note is written once and read once with a crash at every write', async () => {
  for (const n of sampleNumbers('notes with a crash', 8)) {
    const disk = ground();
    ask(disk, 'first', 'ana');
    const house = cluster(SCRIPT);
    const failing = crashDisk(disk, n);
    const play = async (on: Disk): Promise<void> => {
      const proc = start(house, on);
      try {
        await untilQuiet(proc);
        if (disk.list(`${ROOT}/tasks/completed`).length === 1) ask(disk, 'second', 'bob');
        await untilQuiet(proc);
      } finally {
        proc.die();
      }
    };
    await play(failing).catch(() => undefined);
    for (let again = 0; again < 3; again++) await play(disk);
    const heard = disk.tree().get(`${ROOT}/sessions/bob-second.session.yaml`)!;
    assert.equal(heard.match(/Note from ana/g)?.length, 1, `change ${n}`);
    assert.equal(
      disk
        .tree()
        .get(`${ROOT}/bus/news.jsonl`)!
        .match(/the build is red"/g)?.length,
      1,
      `change ${n}`,
    );
    if (failing.count() < n) return;
  }
});

test('a refused note is a problem and an event, and refuses the whole batch', async () => {
  const disk = ground();
  const proc = start(cluster(SCRIPT), disk);
  const body = { type: 'said', text: 'x' } as const;
  const codes = [
    await publishNote(proc.ports, { channel: 'nws', from: 'ana', body }),
    await publishNote(proc.ports, { channel: 'news', from: 'bob', body }),
    await publishNote(proc.ports, { channel: 'news', from: 'mallory', body }),
    await publishNotes(proc.ports, [
      { channel: 'news', from: 'ana', body },
      { channel: 'state', from: 'ana', body },
    ]),
  ].map((refused) => refused?.code);
  assert.deepEqual(codes, ['not_found', 'not_allowed', 'forged', 'not_allowed']);
  assert.deepEqual(proc.ports.bus.channels(), []);
  const events = (await proc.ports.events.list()).filter(({ name }) => name === 'note.refused');
  assert.equal(events.length, 4);
});

test('only writers of a channel have the broadcast tool', async () => {
  const disk = ground();
  ask(disk, 'first', 'ana');
  ask(disk, 'second', 'bob');
  const house = cluster('- {say: Done.}\n');
  await untilQuiet(start(house, disk));
  const tools = (agent: string): string[] =>
    house.calls.find((call) => call.agent === agent)!.tools.map(({ name }) => name);
  assert.ok(tools('ana').includes('broadcast'));
  assert.ok(!tools('bob').includes('broadcast'));
});
