/** The write-behind queue: what is written, in which order, and who waits for it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { ahead, type Ahead, type Keeping } from '../../../src/adapters/files/ahead.js';

const NO_JOURNAL: Keeping = { keep: async () => undefined, arrived: () => undefined, settle: async () => undefined };

interface Desk {
  way: Ahead;
  arrived: string[];
  discarded: string[];
  /** The lines in the journal. */
  kept: string[];
  /** Ends the delay of the queue. */
  wake(): void;
}

function desk(): Desk {
  const arrived: string[] = [];
  const discarded: string[] = [];
  const kept: string[] = [];
  let wake = (): void => undefined;
  const way = ahead(
    { ...NO_JOURNAL, keep: async (lines) => void kept.push(...lines.map(({ id }) => id)) },
    (tmp) => void discarded.push(tmp),
    (later) => void (wake = later),
  );
  return { way, arrived, discarded, kept, wake: () => wake() };
}

test('nothing is written before the delay is over or a caller waits for it', async () => {
  const { way, arrived, wake } = desk();
  way.put({ id: 'a', arrive: () => void arrived.push('a') });
  assert.deepEqual(arrived, []);
  assert.equal(way.isBehind(), true);
  wake();
  await way.caughtUp();
  assert.deepEqual(arrived, ['a']);
  assert.equal(way.isBehind(), false);
});

test('a placement that changes again is written once, in its last state, after earlier changes', async () => {
  const { way, arrived } = desk();
  way.put({ id: 'a', arrive: () => void arrived.push('a made') });
  way.put({ id: 'b', arrive: () => void arrived.push('b') });
  way.put({ id: 'a', arrive: () => void arrived.push('a ended') });
  await way.caughtUp();
  assert.deepEqual(arrived, ['b', 'a ended']);
});

test('a parked task is written after the tasks it waits for, however late they change', async () => {
  const { way, arrived } = desk();
  const put = (id: string, parent?: string, rests = false): void =>
    way.put({ id, parent, rests, arrive: () => void arrived.push(id) });
  put('t.h.work', 't.h');
  put('t.h', 't', true);
  put('t', undefined, true);
  put('t.h.work', 't.h');
  await way.caughtUp();
  assert.deepEqual(arrived, ['t.h.work', 't.h', 't']);
});

test('bytes written for a placement that was dropped meanwhile are discarded', async () => {
  const { way, arrived, discarded } = desk();
  let written = (_: string): void => undefined;
  way.put({
    id: 'a',
    write: () => new Promise((resolve) => void (written = resolve)),
    arrive: () => void arrived.push('a made'),
  });
  const all = way.caughtUp();
  way.put({ id: 'a', write: async () => 'end', arrive: (tmp) => void arrived.push(`a ${tmp}`) });
  written('made');
  await all;
  await way.caughtUp();
  assert.deepEqual(arrived, ['a end']);
  assert.deepEqual(discarded, ['made']);
});

test('bytes of a placement that changed after the write are discarded when it is dropped', async () => {
  const { way, arrived, discarded } = desk();
  let written = (_: string): void => undefined;
  const bytes = Promise.resolve('made');
  const one = { id: 'a', write: () => bytes, arrive: () => void arrived.push('a made') };
  way.put(one);
  way.put({ id: 'b', write: () => new Promise((resolve) => void (written = resolve)), arrive: () => undefined });
  const all = way.caughtUp();
  way.put(one);
  await new Promise(setImmediate);
  way.put({ id: 'a', write: async () => 'end', arrive: (tmp) => void arrived.push(`a ${tmp}`) });
  written('b');
  await all;
  await way.caughtUp();
  assert.deepEqual(arrived, ['a end']);
  assert.deepEqual(discarded, ['made']);
});

test('an idle process exits when everything is written, and not before', () => {
  const module = new URL('../../../src/adapters/files/ahead.js', import.meta.url).href;
  const script = `
    const { ahead } = await import(${JSON.stringify(module)});
    const way = ahead({ keep: async () => {}, arrived: () => {}, settle: async () => {} }, () => {});
    way.put({ id: 'a', arrive: () => console.log('a arrived') });`;
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.deepEqual([stdout, status], ['a arrived\n', 0]);
});

test('placements whose parents form a cycle are written', async () => {
  const { way, arrived } = desk();
  const put = (id: string, parent: string): void =>
    way.put({ id, parent, rests: true, arrive: () => void arrived.push(id) });
  put('alone', 'alone');
  put('a', 'b');
  put('b', 'a');
  await way.caughtUp();
  assert.deepEqual(arrived.sort(), ['a', 'alone', 'b']);
});

test('a caller does not wait for placements queued later', async () => {
  const { way, arrived } = desk();
  const never = new Promise<string>(() => undefined);
  way.put({ id: 'a', arrive: () => void arrived.push('a') });
  const first = way.caughtUp();
  way.put({ id: 'b', write: () => never, arrive: () => void arrived.push('b') });
  await first;
  assert.deepEqual(arrived, ['a']);
});

test('a failed write is reported to all waiting callers and to the next one', async () => {
  const { way, arrived } = desk();
  way.put({ id: 'a', write: () => Promise.reject(new Error('full')), arrive: () => void arrived.push('a') });
  way.put({ id: 'b', arrive: () => void arrived.push('b') });
  await assert.rejects(way.caughtUp(), /full/);
  await assert.rejects(way.caughtUp(), /full/);
  assert.throws(() => way.put({ id: 'c', arrive: () => undefined }), /full/);
  assert.deepEqual(arrived, []);
});

test('journaled content is safe, and its file may follow', async () => {
  const { way, arrived, kept, wake } = desk();
  const put = (id: string, root: string | undefined, isOver: boolean): void =>
    way.put({
      id,
      root,
      ...(isOver ? { line: async () => ({ id, state: 'completed', text: '' }) as const } : {}),
      arrive: () => void arrived.push(id),
    });
  put('t.a', 't', true);
  put('u.a', 'u', false);
  await way.safe('t');
  assert.deepEqual([kept, arrived], [['t.a'], []]);
  put('t.b', 't', true);
  await way.safe('t');
  assert.deepEqual([kept, arrived], [['t.a', 't.b'], []], 'each once');
  wake();
  await way.caughtUp();
  assert.deepEqual(arrived, ['t.a', 'u.a', 't.b']);
});

test('content without a journal line is safe once its file is written', async () => {
  const { way, arrived, kept } = desk();
  way.put({ id: 't.a', root: 't', arrive: () => void arrived.push('t.a') });
  await way.safe('t');
  assert.deepEqual([kept, arrived], [[], ['t.a']]);
});
