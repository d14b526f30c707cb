/**
 * A person saves a conversation in a mirrored folder at the worst moment: while it is taken in, or
 * between two calls with which the mirror writes it. The save stays and reaches the store.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { memoryLedger, ledgerState } from '../../../src/adapters/ledger/memory.js';
import { replay, type SessionItem } from '../../../src/adapters/far/sessions.js';
import { rowValue } from '../../../src/adapters/far/rows.js';
import { mirror } from '../../../src/app/machines/mirror/index.js';
import { sessionText } from '../../../src/app/far/session-text.js';
import { problemError } from '../../../src/domain/problem.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { Task, TaskState } from '../../../src/domain/task/task.js';
import type { Ledger } from '../../../src/ports/ledger.js';
import { removeFolder, tempFolder } from '../../kit/temp/folder.js';

const LOG = 'session/talk';
const FILE = 'sessions/talk.session.yaml';
const AT = '2026-11-18T12:00:00.000Z';
const HEADER = { sessionId: 'talk', agentId: 'ana', created: AT, status: 'active' as const };
const said = (content: string): Message => ({ role: 'assistant', content, timestamp: AT });
const TASK = {
  ...{ id: 'talk', description: 'Talk', role: 'root', root: 'talk', depth: 0, session: 'talk' },
  ...{ requirements: [], dependencies: [], priority: 'C', attempts: 0, version: 1 },
  ...{ created_at: AT, created_by: 'human', from: 'human', to: 'ana', context: {} },
} as unknown as Task;

/** A mirror that shows one conversation. `change`: replaces calls of its ledger. */
async function desk(t: TestContext, change: (ledger: Ledger) => Partial<Ledger> = () => ({})) {
  const top = tempFolder('mirror');
  t.after(() => removeFolder(top));
  const root = path.join(top, 'desk');
  fs.mkdirSync(root);
  const state = ledgerState();
  const store = memoryLedger(state);
  let commits = 0;
  const add = async (...items: SessionItem[]): Promise<void> =>
    void (await store.commit(`c${++commits}`, { puts: [], adds: [{ log: LOG, text: JSON.stringify(items) }] }));
  const own = memoryLedger(state);
  const notes: string[] = [];
  const { look } = mirror({
    ...{ root, workspace: 'w', record: path.join(top, 'shown.json'), now: () => new Date() },
    ledger: { ...own, ...change(own) },
    note: (text) => notes.push(text),
  });
  const file = path.join(root, FILE);
  await add({ whole: { header: HEADER, messages: [said('one')] } });
  await look();
  return {
    ...{ file, look, add, notes },
    read: () => fs.readFileSync(file, 'utf8'),
    save: (text: string) => fs.writeFileSync(file, text),
    /** As editors do that write a new file. */
    exchange(text: string) {
      fs.writeFileSync(`${file}.swp`, text);
      fs.renameSync(`${file}.swp`, file);
    },
    async put(place: TaskState) {
      const { print, live } = rowValue({ task: TASK, state: place });
      await store.commit(`c${++commits}`, { puts: [{ key: 'task/talk', value: print(), live }], adds: [] });
    },
    stored: async () => replay((await store.lines(LOG)).texts)?.messages.map(({ content }) => content),
  };
}

const mine = (text: string): string => `  - role: user\n    content: ${text}\n`;

test('a change that is taken back while it is taken in does not return', async (t) => {
  let meanwhile = (): void => undefined;
  const { read, save, look, stored } = await desk(t, (ledger) => ({
    async commit(...args) {
      const answer = await ledger.commit(...args);
      meanwhile();
      return answer;
    },
  }));
  const before = read();
  save(before + mine('never mind'));
  meanwhile = () => save(before);
  await look();
  meanwhile = () => undefined;
  await look();
  assert.equal(read(), before);
  assert.deepEqual(await stored(), ['one']);
});

test('a save at the moment when the status is written stays, and gets the status', async (t) => {
  const { file, read, exchange, look, stored, put } = await desk(t);
  await put('active');
  await look();
  atNext(t, file, ['openSync', 'renameSync'], () => exchange(read() + mine('wait')));
  await put('completed');
  await look();
  assert.match(read(), /content: wait/);
  await look();
  assert.match(read(), /^status: completed$/m);
  assert.deepEqual(await stored(), ['one', 'wait']);
});

test('what a failed look did not show is shown by the next', async (t) => {
  let fail = (): void => undefined;
  const { read, look, put } = await desk(t, (ledger) => ({
    async grown(...args) {
      fail();
      return ledger.grown(...args);
    },
  }));
  await put('completed');
  fail = () => {
    fail = () => undefined;
    throw problemError('store_away', 'the database does not answer');
  };
  await assert.rejects(look(), /does not answer/);
  await look();
  assert.match(read(), /^status: completed$/m);
});

test('a message that arrives while the conversation is read as a whole is shown once', async (t) => {
  let meanwhile = async (): Promise<void> => undefined;
  const { read, look, add } = await desk(t, (ledger) => ({
    async lines(log, options) {
      const lines = await ledger.lines(log, options);
      if (log === LOG) await meanwhile();
      return lines;
    },
  }));
  await add({ whole: { header: HEADER, messages: [said('one'), said('two')] } });
  meanwhile = async () => {
    meanwhile = async () => undefined;
    await add({ message: said('three') });
  };
  await look();
  await look();
  assert.equal(read(), sessionText({ header: HEADER, messages: ['one', 'two', 'three'].map(said) }));
});

test('a message is shown although an editor saved the same text again at that moment', async (t) => {
  const { file, read, exchange, look, add, stored } = await desk(t);
  await add({ message: said('two') });
  atNext(t, file, ['writeSync'], () => exchange(read()));
  await look();
  await look();
  assert.match(read(), /content: two/);
  assert.deepEqual(await stored(), ['one', 'two']);
});

test('R6: bytes that are not UTF-8 are not taken in, and the person reads where they are', async (t) => {
  const { file, read, look, stored, notes } = await desk(t);
  const bytes = Buffer.concat([Buffer.from(read() + '  - role: user\n    content: caf'), Buffer.from([0xe9, 0x0a])]);
  fs.writeFileSync(file, bytes);
  for (const _ of [1, 2, 3]) await look();
  assert.deepEqual(fs.readFileSync(file), bytes);
  assert.deepEqual(await stored(), ['one']);
  assert.match(notes.join('\n'), /^sessions\/talk\.session\.yaml is not taken in: this byte is not UTF-8 text$/);
});

/** Runs `work` once, just before one of these calls for this file or an open file. */
function atNext(
  t: TestContext,
  file: string,
  calls: ('openSync' | 'renameSync' | 'writeSync')[],
  work: () => void,
): void {
  let isDone = false;
  for (const name of calls) {
    const call = fs[name] as (...args: unknown[]) => unknown;
    t.mock.method(fs, name, (...args: unknown[]) => {
      if (!isDone && (typeof args[0] === 'number' || args.includes(file))) {
        isDone = true;
        work();
      }
      return call(...args);
    });
  }
}
