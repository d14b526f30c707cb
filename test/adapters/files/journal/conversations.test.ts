/** Conversations, which people edit while a process writes to them and dies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disk } from '../../../../src/ports/disk.js';
import { crashDisk } from '../../../kit/crash-disk.js';
import { seeded } from '../../../kit/sim-processes.js';
import { ground, record, says, session, takeOver, type Ground, type Started } from './ground.js';

const FILE = '/w/sessions/ana-t.session.yaml';
const DURABLE = { durable: true };

/** A process that holds the task `t` and has said these things in its conversation. */
async function talking(world: Ground, said: readonly string[], disk?: Disk): Promise<Started> {
  world.disk.save('/w/tasks/pending/t.json', record('t'));
  const store = world.start(disk === undefined ? {} : { disk });
  await store.tasks.scan(true);
  assert.ok(await store.tasks.claim('t', 'ana'));
  await store.sessions.create(session('t'), [], { durable: false });
  for (const content of said)
    assert.equal(await store.sessions.append('ana-t', [...says(content)], DURABLE), 'written');
  return store;
}

function messages(world: Ground): string[] {
  return [...(world.disk.tree().get(FILE) ?? '').matchAll(/content: (.*)\n {4}timestamp/g)].map((match) => match[1]!);
}

/** Removes a message, as a person with an editor does. */
function erase(world: Ground, content: string): void {
  const text = world.disk.tree().get(FILE)!;
  const without = text.replace(new RegExp(`  - role: assistant\n    content: ${content}\n    timestamp: .*\n`), '');
  assert.notEqual(without, text);
  world.disk.save(FILE, without);
}

test('a message is in the file when its append returns', async () => {
  const world = ground();
  await talking(world, ['one', 'two']);
  assert.deepEqual(messages(world), ['one', 'two']);
});

test('if a person saves between the line and the write, their text stays and the message follows it', async () => {
  const world = ground();
  let isNow = false;
  const store = await talking(world, ['one', 'two'], {
    ...world.disk,
    async sync(file) {
      if (isNow && file.includes('/journal/')) erase(world, 'one');
      isNow = false;
      await world.disk.sync(file);
    },
  });
  isNow = true;
  assert.equal(await store.sessions.append('ana-t', [...says('three')], DURABLE), 'written');
  assert.deepEqual(messages(world), ['two', 'three']);
  const opened = await store.sessions.open('ana-t');
  assert.ok(opened.kind === 'open' && opened.edited !== undefined, 'the edit is reported');
});

test('a message that a person removed does not return when the process dies in its next append', async () => {
  for (const boot of ['test', 'another']) {
    const world = ground();
    let isDying = false;
    const store = await talking(world, ['one', 'two', 'three'], {
      ...world.disk,
      append(file, bytes) {
        if (isDying) throw new Error('the process is gone');
        return world.disk.append(file, bytes);
      },
    });
    erase(world, 'two');
    assert.equal(await store.sessions.append('ana-t', [...says('four')], DURABLE), 'edited');
    await store.sessions.open('ana-t');
    isDying = true;
    await assert.rejects(store.sessions.append('ana-t', [...says('four')], DURABLE));
    store.die();
    await takeOver(world.start({ boot }));
    assert.deepEqual(messages(world), ['one', 'three', 'four'], boot);
  }
});

test('a message that a person edited or removed after its process ended does not return, on any boot', async () => {
  for (const boot of ['test', 'another'])
    for (const isRemoved of [true, false]) {
      const world = ground();
      const store = await talking(world, ['one', 'two', 'three']);
      store.die();
      if (isRemoved) erase(world, 'two');
      else world.disk.save(FILE, world.disk.tree().get(FILE)!.replace('content: two', 'content: TWO'));
      await takeOver(world.start({ boot }));
      assert.deepEqual(messages(world), isRemoved ? ['one', 'three'] : ['one', 'TWO', 'three'], boot);
    }
});

test('messages of two dead processes in one conversation are restored in order after a power cut', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const world = ground();
    const later = world.start(); // its journal is listed first or last, whatever it contains
    const first = await talking(world, ['one', 'two']);
    world.disk.save('/w/tasks/pending/u.json', record('u'));
    await later.tasks.scan(true);
    assert.ok(await later.tasks.claim('u', 'ana'));
    await later.sessions.open('ana-t');
    await later.sessions.append('ana-t', [...says('three')], DURABLE);
    await later.sessions.append('ana-t', [...says('four')], DURABLE);
    for (const store of [first, later]) store.die();
    world.disk.powerCut(seeded(seed));
    await takeOver(world.start({ boot: 'another' }));
    assert.deepEqual(messages(world), ['one', 'two', 'three', 'four'], `seed ${seed}`);
  }
});

test('an acknowledged message is in the file after a crash at any change and a power cut', async () => {
  for (let n = 1, isDead = true; isDead; n++) {
    for (const seed of [0, n, n + 500]) {
      const world = ground();
      const said: string[] = [];
      const failing = crashDisk(world.disk, n);
      isDead = await talking(world, [], failing).then(
        async (store) => {
          for (const content of ['one', 'two', 'three']) {
            const written = await store.sessions.append('ana-t', [...says(content)], DURABLE).catch(() => 'died');
            if (written !== 'written') return true;
            said.push(content);
          }
          return failing.count() >= n;
        },
        () => true,
      );
      if (seed > 0) world.disk.powerCut(seeded(seed));
      for (const name of world.disk.list('/w/agents/live')) world.disk.remove(`/w/agents/live/${name}`);
      const next = world.start(seed > 0 ? { boot: 'another' } : {});
      world.killAll(next);
      await takeOver(next);
      assert.deepEqual(messages(world).slice(0, said.length), said, `died at change ${n}, power cut ${seed}`);
    }
  }
});

test('an effect has its outcome after a power cut, or is known to have been started', async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const world = ground();
    const store = await talking(world, ['one']);
    assert.equal(await store.effects.begin('act', 'd', 'acts'), true);
    await store.effects.finish('act', { ok: true, text: 'acted' } as never);
    if (seed % 2 === 0) await store.flush({ visible: false });
    store.die();
    world.disk.powerCut(seeded(seed));
    const next = world.start({ boot: 'another' });
    await takeOver(next);
    const { state } = await next.effects.get('act');
    assert.ok(state === 'done' || (state === 'started' && seed % 2 === 1), `${state}, seed ${seed}`);
    assert.equal(await next.effects.begin('act', 'd', 'acts'), false);
  }
});

test('another process never sees a part of the record of an effect', async () => {
  const world = ground();
  const store = await talking(world, ['one'], {
    ...world.disk,
    create(file, bytes) {
      assert.ok(!file.endsWith('.started'), 'a record is named when it is whole');
      return world.disk.create(file, bytes);
    },
  });
  assert.equal(await store.effects.begin('act', 'd', 'acts'), true);
  assert.equal(await store.effects.begin('act', 'd', 'acts'), false);
});
