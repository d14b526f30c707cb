/** The desk that keeps the history of a shared store, and what can be undone there. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { processes } from '../../../src/adapters/processes/index.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import { folderName, readHistoryDesk, takeHistory, type HistoryDesk } from '../../../src/app/far/history-desk.js';
import { deskHistory } from '../../../src/app/machines/desk-history.js';
import { mirror } from '../../../src/app/machines/mirror/index.js';
import { keyFromSeed, memoryConsent } from '../../../src/adapters/consent/index.js';
import { pullStore } from '../../../src/app/machines/pull.js';
import { refuseIfHeld, undoInStore } from '../../../src/app/machines/undo-in-store.js';
import { mirrorHistory } from '../../../src/app/readers/history.js';
import { parseConfig } from '../../../src/text/config/config.js';
import type { Ledger } from '../../../src/ports/ledger.js';

let commits = 0;
const nextId = (): string => `test ${++commits}`;

async function put(ledger: Ledger, key: string, value: unknown, live = true): Promise<void> {
  await ledger.commit(nextId(), { puts: [{ key, value: JSON.stringify(value), live }], adds: [] });
}

const desk = (peer: string, folder: string): HistoryDesk => ({ by: `${peer}@host`, host: 'host', folder, peer });

test('one desk keeps history at a time, and the next takes over when it is gone', async () => {
  const ledger = memoryLedger(ledgerState());
  await assert.rejects(takeHistory(ledger, desk('ana', '/ana'), nextId), /declared dead/, 'only a live process');
  await put(ledger, 'peer/ana', {});
  await put(ledger, 'peer/bo', {});
  await takeHistory(ledger, desk('ana', '/ana'), nextId);
  await assert.rejects(takeHistory(ledger, desk('bo', '/bo'), nextId), /already kept by ana@host in \/ana/);
  await put(ledger, 'peer/ana-again', {});
  await takeHistory(ledger, desk('ana-again', '/ana'), nextId); // a killed one is not waited for
  await put(ledger, 'peer/ana-again', {}, false);
  assert.deepEqual(await readHistoryDesk(ledger), { desk: desk('ana-again', '/ana'), isRunning: false });
  await takeHistory(ledger, desk('bo', '/bo'), nextId);
  assert.deepEqual(await readHistoryDesk(ledger), { desk: desk('bo', '/bo'), isRunning: true });
});

test('an entry that names no desk counts as none', async () => {
  const ledger = memoryLedger(ledgerState());
  for (const value of [null, 1, { by: 'x' }, { ...desk('a', '/a'), host: 1 }]) {
    await put(ledger, 'desk/history', value);
    assert.equal(await readHistoryDesk(ledger), undefined);
  }
});

interface Sync {
  /** A minute later. */
  look(): Promise<void>;
  /** Commits the rest and frees the history for other desks. The mirror can still look. */
  commit(): Promise<void>;
}

interface Seat {
  root: string;
  /** Begins as `guild sync --history` does. */
  begin(): Promise<Sync>;
  history(): ReturnType<typeof mirrorHistory>;
  write(file: string, text: string): void;
  read(file: string): string | undefined;
}

function seat(t: TestContext, state: LedgerState): Seat {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-desk-'));
  t.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const root = path.join(home, 'team');
  fs.mkdirSync(root);
  fs.writeFileSync(path.join(root, 'guild.yaml'), '');
  const at = (file: string): string => path.join(root, file);
  const { config } = parseConfig('', 'guild.yaml', {});
  let minute = 0;
  return {
    root,
    async begin() {
      const kept = deskHistory(root, process.env, assert.ifError);
      const place = { root, workspace: 'w', record: path.join(home, 'shown.json') };
      const now = (): Date => new Date(minute * 60_000);
      const shown = mirror({ ...place, ledger: memoryLedger(state), now, note() {}, history: kept });
      await shown.look();
      await kept.begin();
      return {
        async look() {
          minute++;
          await shown.look();
          kept.looked();
        },
        commit: kept.close,
      };
    },
    history: () => mirrorHistory({ root, config, env: process.env }, memoryLedger(state)),
    write(file, text) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), text);
    },
    read: (file) => (fs.existsSync(at(file)) ? fs.readFileSync(at(file), 'utf8') : undefined),
  };
}

const task = (description: string): object => ({
  ...{ id: 'one', root: 'one', depth: 0, role: 'root', description, requirements: [], dependencies: [] },
  context: { original_goal: description },
  ...{ priority: 'C', created_by: 'human', created_at: '2026-01-01T00:00:00.000Z', attempts: 0, version: 1 },
  ...{ session: 'ana-one' },
});
const header = {
  sessionId: 'ana-one',
  agentId: 'ana',
  created: '2026-01-01T00:00:00.000Z',
  status: 'active',
  task: 'one',
};
const said = (content: string): object => ({ role: 'assistant', content, timestamp: '2026-01-01T00:00:00.000Z' });

interface Work {
  state: LedgerState;
  ledger: Ledger;
  line(log: string, item: unknown): Promise<unknown>;
}

/** A store with a pending task, its conversation and two notes. */
async function work(): Promise<Work> {
  const state = ledgerState();
  const ledger = memoryLedger(state);
  const line = async (log: string, item: unknown): Promise<unknown> =>
    ledger.commit(nextId(), { puts: [], adds: [{ log, text: JSON.stringify(item) }] });
  await put(ledger, 'task/one', { task: task('Do it'), state: 'pending' });
  await line('session/ana-one', [{ whole: { header, messages: [said('the first words')] } }]);
  await put(ledger, 'doc/memory/kept.md', { text: 'first\n' }, false);
  await put(ledger, 'doc/memory/gone.md', { text: 'it was here\n' }, false);
  return { state, ledger, line };
}

async function takenBy({ root }: Seat, ledger: Ledger): Promise<void> {
  await put(ledger, 'peer/here', {});
  const own = { by: 'ana@here', host: processes().me().host, folder: folderName(root), peer: 'here' };
  await takeHistory(ledger, own, nextId);
}

/** Does what `guild undo` does, beside a mirror that looks. */
async function undo({ root, history }: Seat, to: string, ledger: Ledger, sync: Sync): Promise<void> {
  const opened = await history();
  await opened.undo(to, async (old) => {
    let isDone = false;
    const doing = undoInStore(ledger, root, old).finally(() => (isDone = true));
    doing.catch(() => undefined);
    while (!isDone) {
      await sync.look();
      await new Promise((resolve) => setImmediate(resolve)); // timers of the undo
    }
    return doing;
  });
  await opened.close();
}

test('an undo at the desk takes tasks, conversations and notes back in the store', async (t) => {
  const { state, ledger, line } = await work();
  const here = seat(t, state);
  const { root, begin, history, write, read } = here;
  const elsewhere = (await history()).state();
  assert.match(elsewhere.on ? '' : elsewhere.why, /no desk keeps its history; guild sync DIR --history/);
  await takenBy(here, ledger);
  const other = (await seat(t, state).history()).state();
  assert.match(other.on ? '' : other.why, /history is kept by ana@here in .*team$/);

  write('tasks/week.task.md', '- [ ] first\n');
  const paint = (...bytes: number[]): void => {
    fs.mkdirSync(path.join(root, 'memory'), { recursive: true });
    fs.writeFileSync(path.join(root, 'memory/picture.png'), Buffer.from(bytes));
  };
  paint(0xff, 0, 1);
  const sync = await begin();
  const [first] = await (await history()).log();
  await line('events', { at: '2026-01-01T00:00:00.000Z', name: 'task.completed', task: 'one', agent: 'ana' });
  await put(ledger, 'task/one', { task: { ...task('Do it'), result: 'Done' }, state: 'completed' }, false);
  await line('session/ana-one', [{ message: said('the last words') }]);
  await put(ledger, 'task/two', {
    task: { ...task('Then this'), id: 'two', root: 'two', session: 'ana-two' },
    state: 'pending',
  });
  await line('session/ana-two', [{ whole: { header: { ...header, sessionId: 'ana-two' }, messages: [] } }]);
  write('memory/kept.md', 'second\n');
  write('memory/new.md', 'not there before\n');
  paint(0xff, 0, 2);
  write('guild.yaml', 'git: true\n');
  write('tasks/week.task.md', '- [x] first\n');
  write('tasks/approvals.task.md', '- [x] an answer\n');
  fs.rmSync(path.join(root, 'memory/gone.md'));
  for (let look = 0; look < 2; look++) await sync.look();
  await sync.commit();
  const log = await (await history()).log({ task: 'one' });
  assert.match(log[0]!.subject, /^one: ana answered/, 'as if it were done here');
  assert.equal((await ledger.get('doc/memory/gone.md'))!.value, '');
  assert.match(read('results/one.md')!, /Done/);

  const { files, left } = await (await history()).changes(first!.id);
  const names = files.map((file) => file.path);
  for (const name of ['memory/gone.md', 'sessions/ana-two.session.yaml', 'tasks/completed/one.json', 'results/one.md'])
    assert.ok(names.includes(name), name);
  assert.deepEqual(
    left.map((file) => file.path),
    ['guild.yaml', 'tasks/approvals.task.md'],
  );
  await undo(here, first!.id, ledger, sync);
  for (let look = 0; look < 2; look++) await sync.look();
  assert.equal(read('tasks/completed/one.json') ?? read('results/one.md') ?? read('tasks/pending/two.json'), undefined);
  assert.equal(JSON.parse(read('tasks/pending/one.json')!).result, undefined);
  assert.deepEqual(JSON.parse((await ledger.get('task/one'))!.value), { task: task('Do it'), state: 'pending' });
  assert.equal((await ledger.get('task/one'))!.live, true, 'work again');
  assert.match((await ledger.get('doc/memory/kept.md'))!.value, /first/);
  assert.match((await ledger.get('doc/memory/gone.md'))!.value, /it was here/);
  assert.equal((await ledger.get('doc/memory/new.md'))!.value, '');
  assert.equal(read('memory/kept.md'), 'first\n');
  assert.equal(read('memory/new.md') ?? read('sessions/ana-two.session.yaml'), undefined);
  assert.match(read('sessions/ana-one.session.yaml')!, /the first words/);
  assert.doesNotMatch(read('sessions/ana-one.session.yaml')!, /the last words/);
  assert.equal(read('tasks/week.task.md'), '- [ ] first\n');
  assert.deepEqual([...fs.readFileSync(path.join(root, 'memory/picture.png'))], [0xff, 0, 1], 'only in this folder');
  assert.equal(await ledger.get('doc/memory/picture.png'), undefined);
  assert.equal(read('guild.yaml'), 'git: true\n');
  assert.equal(read('tasks/approvals.task.md'), '- [x] an answer\n');
  assert.equal((await ledger.get('undone/task/two'))?.live, true);

  const pulled = path.join(path.dirname(root), 'pulled');
  await put(ledger, 'peer/here', {}, false);
  const { tasks, conversations } = await pullStore(root, pulled, ledger, memoryConsent(keyFromSeed('nobody')));
  assert.deepEqual([tasks, conversations], [1, 1], 'a folder from the store has no removed work');
  assert.equal(fs.existsSync(path.join(pulled, 'tasks/failed/two.json')), false);
  await put(ledger, 'peer/here', {});

  const [undone, before] = await (await history()).log();
  assert.match(undone!.subject, /^undo: back to/);
  await undo(here, before!.id, ledger, sync);
  for (let look = 0; look < 2; look++) await sync.look();
  assert.match(read('tasks/completed/one.json')!, /Done/, 'an undo can be undone');
  assert.match(read('results/one.md')!, /Done/);
  assert.match(read('sessions/ana-one.session.yaml')!, /the last words/);
  assert.match(read('tasks/pending/two.json')!, /Then this/);
  assert.equal((await ledger.get('undone/task/two'))?.live, false);
});

test('an undo waits for live processes, and changes nothing if the store has moved on', async (t) => {
  const { state, ledger } = await work();
  const here = seat(t, state);
  await takenBy(here, ledger);
  const sync = await here.begin();
  const [first] = await (await here.history()).log();
  const claimed = { task: task('Do it'), state: 'active', owner: { agent: 'ana', peer: 'far' } };
  await put(ledger, 'task/one', claimed);
  await put(ledger, 'peer/far', { host: 'worker-3' });
  here.write('memory/kept.md', 'second\n');
  await sync.look();
  const { files } = await (await here.history()).changes(first!.id);
  await assert.rejects(refuseIfHeld(ledger, files), /a process on worker-3 works on task one/);
  await put(ledger, 'peer/far', {}, false);
  await refuseIfHeld(ledger, files);
  // The worker comes back with a result that the folder does not show yet.
  await put(ledger, 'task/one', { task: task('Do it'), state: 'completed' }, false);
  await sync.commit();
  const opened = await here.history();
  await assert.rejects(
    opened.undo(first!.id, (old) => undoInStore(ledger, here.root, old)),
    /task one changed in the store/,
  );
  await opened.close();
  assert.match((await ledger.get('task/one'))!.value, /completed/);
  assert.match((await ledger.get('doc/memory/kept.md'))!.value, /second/);
});

test('a note that was deleted can be written again, but not from a folder that is older', async (t) => {
  const state = ledgerState();
  const ledger = memoryLedger(state);
  await put(ledger, 'doc/memory/note.md', { text: 'once\n' }, false);
  await ledger.commit(nextId(), { puts: [{ key: 'doc/memory/note.md', value: '', live: false }], adds: [] });
  const { root, write } = seat(t, state);
  const shown = mirror({
    ...{ root, workspace: 'w', record: `${root}-shown.json`, ledger: memoryLedger(state) },
    ...{ now: () => new Date(0), note() {} },
  });
  const stored = async (): Promise<string> => (await ledger.get('doc/memory/note.md'))!.value;
  write('memory/note.md', 'from an old checkout\n');
  await shown.look();
  await shown.look();
  assert.equal(await stored(), '');
  write('memory/note.md', 'written by a person now\n');
  await shown.look();
  assert.match(await stored(), /by a person now/);
});
