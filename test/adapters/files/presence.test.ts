/**
 * How processes notice that another one has died, among few and among many; and what the watcher
 * reports.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { watchWorkspace, ringPeers } from '../../../src/adapters/files/watcher.js';
import { folders, layout, type Layout } from '../../../src/adapters/files/base/layout.js';
import { presence, type Presence } from '../../../src/adapters/files/base/presence.js';
import { atomicWrite } from '../../../src/adapters/files/base/atomic-write.js';
import { isWarden, patience } from '../../../src/domain/peer.js';
import { editedSessions } from '../../../src/adapters/edited-sessions/index.js';
import type { Disk } from '../../../src/ports/disk.js';

function place(): Layout {
  const l = layout(tempFolder('presence'));
  for (const folder of folders(l)) fs.mkdirSync(folder, { recursive: true });
  return l;
}

interface Crowd {
  all: Presence[];
  live: string;
  kill(index: number): void;
  gone(index: number): boolean;
}

function crowd(count: number): Crowd {
  const l = place();
  const dead = new Set<number>();
  const all = Array.from({ length: count }, (_, pid) => {
    const me = { host: 'here', bootId: 'b', pid, startTime: '1' };
    const id = `p${String(pid).padStart(3, '0')}`;
    const peer = { id, ...me, agents: [], since: '2026-01-01T00:00:00.000Z' };
    return presence(disk(), l, { me: () => me, isAlive: (who) => !dead.has(who.pid) }, peer);
  });
  for (const one of all) one.join();
  return {
    all,
    live: l.live,
    kill: (index) => void dead.add(index),
    gone: (index) => !fs.existsSync(path.join(l.live, `${all[index]!.peer.id}.json`)),
  };
}

test('in a copy of the folder, the processes of the original are dead, and those of older versions as alive as they are', () => {
  const [original, copy] = [place(), place()];
  const at = (l: Layout, id: string): Presence => {
    const me = { host: 'here', bootId: 'b', pid: 1, startTime: '1' };
    return presence(disk(), l, { me: () => me, isAlive: () => true }, { id, ...me, agents: [], since: '' });
  };
  at(original, 'a').join();
  fs.cpSync(original.live, copy.live, { recursive: true });
  assert.ok(at(original, 'me').isAlive('a'));
  const here = at(copy, 'me');
  assert.deepEqual([here.isAlive('a'), here.peers()], [false, []]);
  const file = path.join(copy.live, 'a.json');
  const { place: _, ...old } = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
  fs.writeFileSync(file, JSON.stringify(old));
  assert.ok(at(copy, 'me').isAlive('a'));
  here.sweep();
  fs.cpSync(path.join(original.live, 'a.json'), file);
  at(copy, 'me').sweep();
  assert.deepEqual(fs.readdirSync(copy.live), []);
});

test('a process joins even if its temporary file is swept, and leaves nothing that is not swept if it dies then', () => {
  const l = place();
  const real = disk();
  let swept = 0;
  const busy: Disk = {
    ...real,
    rename(from, to) {
      if (swept++ < 2) real.remove(from);
      return real.rename(from, to);
    },
  };
  const me = { host: 'here', bootId: 'b', pid: 1, startTime: '1' };
  const peer = { id: 'p1', ...me, agents: [], since: '2026-01-01T00:00:00.000Z' };
  presence(busy, l, { me: () => me, isAlive: () => true }, peer).join();
  assert.deepEqual(fs.readdirSync(l.live), ['p1.json']);
  const dying: Disk = {
    ...real,
    rename() {
      throw new Error('killed');
    },
  };
  const other = { ...peer, id: 'p2' };
  assert.throws(() => presence(dying, l, { me: () => me, isAlive: () => true }, other).join());
  assert.deepEqual(fs.readdirSync(l.live), ['p1.json']);
  assert.deepEqual(fs.readdirSync(l.tmp), ['p2-0']);
});

test('a process that joins during a sweep is not swept, and one whose file was deleted joins again', () => {
  const l = place();
  const here = (id: string, on: Disk): Presence => {
    const me = { host: 'here', bootId: 'b', pid: 1, startTime: '1' };
    const peer = { id, ...me, agents: [], since: '2026-01-01T00:00:00.000Z' };
    return presence(on, l, { me: () => me, isAlive: () => true }, peer);
  };
  const one = here('p1', disk());
  one.join();
  const two = here('p2', disk());
  assert.equal(one.isAlive('p2'), false, 'its temporary file is checked before the rename');
  two.join();
  one.sweep();
  assert.deepEqual(fs.readdirSync(l.live).sort(), ['p1.json', 'p2.json']);
  assert.equal(one.isAlive('p2'), true);
  assert.equal(two.rejoin(), false);
  fs.rmSync(path.join(l.live, 'p2.json'));
  one.refresh();
  assert.equal(one.isAlive('p2'), false);
  assert.equal(two.rejoin(), true);
  assert.equal(one.isAlive('p2'), true);
});

test('with few processes, the neighbours of each check it', () => {
  const { all, kill, gone } = crowd(4);
  assert.ok(all.every((one) => isWarden(one.rank()) && patience(one.rank()) === 1));
  kill(2);
  assert.equal(all[3]!.checkOthers(), true);
  assert.ok(gone(2));
});

test('with many processes, each of three wardens notices a death within three checks', () => {
  const { all, kill, gone } = crowd(40);
  assert.deepEqual(
    all.filter((one) => isWarden(one.rank())).map((one) => one.rank().rank),
    [0, 1, 2],
  );
  kill(17);
  kill(31);
  for (let looks = 0; looks < 3; looks++) all[1]!.checkOthers();
  assert.ok(gone(17) && gone(31));
});

test('a process that left is forgotten: a new one with the same name is checked again', () => {
  const l = place();
  const me = { host: 'here', bootId: 'b', pid: 1, startTime: '1' };
  const since = '2026-01-01T00:00:00.000Z';
  const enter = (id: string, agents: string[]): Presence => {
    const one = presence(disk(), l, { me: () => me, isAlive: () => true }, { id, ...me, agents, since });
    one.join();
    return one;
  };
  const first = enter('p1', []);
  const seen = (): string[][] => {
    first.refresh();
    return first.peers().map((peer) => peer.agents);
  };
  const second = enter('p2', ['ana']);
  assert.deepEqual(seen(), [[], ['ana']]);
  second.leave();
  assert.deepEqual(seen(), [[]]);
  enter('p2', ['ben']);
  assert.deepEqual(seen(), [[], ['ben']]);
});

test('when all wardens die at once, the next check notices it, and others take their place', () => {
  const { all, kill, gone } = crowd(40);
  assert.equal(isWarden(all[3]!.rank()), false);
  for (const index of [0, 1, 2]) kill(index);
  assert.equal(all[25]!.checkOthers(), true);
  assert.ok(gone(0) && gone(1) && gone(2));
  assert.equal(isWarden(all[3]!.rank()), true);
});

test('the watcher distinguishes joins and leaves from work, wakes all processes on request, and follows a replaced folder', async () => {
  const l = place();
  const heard = new Set<string>();
  const hung = watchWorkspace(l, {
    ring: () => void heard.add('ring'),
    peers: (gone) => void heard.add(gone ? 'gone' : 'came'),
    touched: (file) => (heard.add(path.relative(l.root, file)), true),
  });
  const hears = async (what: string, cause: () => void): Promise<void> => {
    await settled(heard);
    cause();
    const until = Date.now() + 60_000;
    while (!heard.has(what)) {
      if (Date.now() > until) assert.fail(`${what} was not heard`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      hung.rewatch();
    }
  };
  try {
    await hears('came', () => fs.renameSync(written(l.root), path.join(l.live, 'x.json')));
    await hears('gone', () => fs.rmSync(path.join(l.live, 'x.json')));
    assert.ok(!heard.has('ring'));
    fs.renameSync(written(l.root), path.join(l.live, 'y.json'));
    await hears('ring', () => ringPeers(disk(), l, 'y'));
    assert.equal(fs.readFileSync(path.join(l.live, 'y.json'), 'utf8'), '{"pid":1}');
    await hears('ring', () => fs.writeFileSync(path.join(l.tasks('pending'), 't.json'), '{}'));
    await hears('tasks/pending/t.json', () => fs.writeFileSync(path.join(l.tasks('pending'), 't.json'), '{ }'));
    await hears('ring', () => fs.mkdirSync(path.join(l.root, 'inbox')));
    await hears('ring', () => fs.writeFileSync(path.join(l.root, 'inbox', 'mail.jsonl'), '{}\n'));
    fs.rmSync(l.intents, { recursive: true });
    fs.mkdirSync(l.intents);
    await hears('ring', () => fs.writeFileSync(path.join(l.intents, `${Math.random()}.json`), '{}'));
  } finally {
    hung.close();
  }
});

function written(folder: string): string {
  const file = path.join(folder, 'aside');
  fs.writeFileSync(file, '{"pid":1}');
  return file;
}

/** Waits until the events of earlier changes have arrived. */
async function settled(heard: Set<string>): Promise<void> {
  do {
    heard.clear();
    await new Promise((resolve) => setTimeout(resolve, 100));
  } while (heard.size > 0);
}

test('temporary files of a dead peer are swept, but not those of a peer whose file was just deleted', () => {
  const l = place();
  const living = new Set([1, 2]);
  const here = (pid: number): Presence => {
    const me = { host: 'here', bootId: 'b', pid, startTime: '1' };
    const peer = { id: `p${pid}`, ...me, agents: [], since: '2026-01-01T00:00:00.000Z' };
    return presence(disk(), l, { me: () => me, isAlive: (one) => living.has(one.pid) }, peer);
  };
  const asides = (): string[] => fs.readdirSync(l.tmp).sort();
  const me = here(1);
  for (const one of [me, here(2), here(3), here(4)]) one.join();
  for (const name of ['p1-1', 'p2-1', 'p2-turn1', 'p3-1', 'p5-1', 'p6-0']) fs.writeFileSync(path.join(l.tmp, name), '');
  fs.utimesSync(path.join(l.tmp, 'p5-1'), new Date('2026-01-01'), new Date('2026-01-01'));
  fs.rmSync(path.join(l.live, 'p2.json'));
  me.sweep();
  assert.deepEqual(asides(), ['p1-1', 'p2-1', 'p2-turn1'], 'p3 is dead, p5 was left long ago, p6 makes its own again');
  assert.deepEqual(fs.readdirSync(l.live), ['p1.json']);
  here(7).join();
  fs.writeFileSync(path.join(l.tmp, 'p7-1'), '');
  assert.equal(me.checkOthers(), true);
  assert.deepEqual(asides(), ['p1-1', 'p2-1', 'p2-turn1'], 'who is found dead leaves nothing');
});

test('the temporary mark of conversations of a dead process is swept', () => {
  const l = place();
  const real = disk();
  const living = new Set([1]);
  const here = (pid: number): Presence => {
    const me = { host: 'here', bootId: 'b', pid, startTime: '1' };
    const peer = { id: `p${pid}`, ...me, agents: [], since: '2026-01-01T00:00:00.000Z' };
    return presence(real, l, { me: () => me, isAlive: (one) => living.has(one.pid) }, peer);
  };
  const [me, dead] = [here(1), here(2)];
  for (const one of [me, dead]) one.join();
  fs.mkdirSync(path.join(l.root, 'sessions'), { recursive: true });
  fs.writeFileSync(path.join(l.root, 'sessions', 'ana.session.yaml'), 'messages:\n  - role: assistant\n');
  const dying: Disk = {
    ...real,
    rename() {
      throw new Error('killed');
    },
  };
  const clock = { monotonicMs: () => 0, now: () => new Date(0) };
  const edited = editedSessions({
    root: l.root,
    disk: dying,
    clock,
    peer: 'p2',
    isWatched: false,
    isFirst: () => true,
  });
  assert.throws(() => edited.look(() => undefined), /killed/);
  assert.equal(fs.readdirSync(l.tmp).length, 1);
  me.sweep();
  assert.deepEqual(fs.readdirSync(l.tmp), []);
});

test('the temporary view of a dead process is swept at once, and a partial view is never shown', () => {
  const l = place();
  const real = disk();
  const me = { host: 'here', bootId: 'b', pid: 1, startTime: '1' };
  const here = (id: string): Presence =>
    presence(
      real,
      l,
      { me: () => me, isAlive: () => true },
      { id, ...me, agents: [], since: '2026-01-01T00:00:00.000Z' },
    );
  const page = path.join(l.root, 'agents', 'page.json');
  const failing = (part: Partial<Disk>): Disk => ({ ...real, ...part });
  const dies = (): never => {
    throw new Error('killed');
  };
  const gone = here('p1');
  gone.join();
  gone.leave();
  assert.throws(() => atomicWrite(failing({ rename: dies }), l, 'p1', dies).show(page, 'whole'), /killed/);
  assert.equal(fs.readdirSync(l.tmp).length, 1);
  const other = here('p2');
  other.join();
  other.sweep();
  assert.deepEqual(fs.readdirSync(l.tmp), []);

  const torn = failing({
    create(file, text) {
      real.create(file, text.slice(0, 2));
      throw new Error('the disk is full');
    },
  });
  assert.throws(() => atomicWrite(torn, l, 'p3', dies).show(page, 'whole'), /full/);
  assert.equal(fs.existsSync(page), false);
  atomicWrite(real, l, 'p3', dies).show(page, 'whole');
  assert.equal(fs.readFileSync(page, 'utf8'), 'whole');
  assert.deepEqual(fs.readdirSync(l.tmp), []);
});

test('a process recreates the folder of live processes if it was deleted', () => {
  const { all, live, gone } = crowd(2);
  assert.equal(all[0]!.rejoin(), false);
  fs.rmSync(live, { recursive: true });
  assert.equal(all[0]!.rejoin(), true);
  assert.equal(gone(0), false);
  assert.equal(all[1]!.rejoin(), true);
});
