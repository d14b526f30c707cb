/** Workspaces whose work is in a shared store: several folders, one ledger. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeFolder, tempFolder } from '../kit/temp/folder.js';
import { clock } from '../../src/adapters/clock/index.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../src/adapters/ledger/memory.js';
import { openWorkspace, type Workspace } from '../../src/app/index.js';
import { parseTask } from '../../src/text/records/task.js';
import { trust } from '../kit/trust/state.js';
import { until } from '../kit/until.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('app/far-workspace', 5);

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const yielding = { ...clock(), sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };

/** A separate machine: it has a copy of the definitions and shares only the ledger. */
async function machine(t: TestContext, state: LedgerState, from: string | Record<string, string>): Promise<Workspace> {
  const root = tempFolder('far');
  if (typeof from === 'string') fs.cpSync(path.join(ROOT, from), root, { recursive: true });
  else
    for (const [file, text] of Object.entries(from)) {
      fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      fs.writeFileSync(path.join(root, file), text);
    }
  trust(root);
  const ledger = () => memoryLedger(state);
  const workspace = await openWorkspace(root, { env: {}, clock: yielding, ledger });
  t.after(async () => {
    await workspace.close();
    await removeFolder(root);
  });
  return workspace;
}

/** Takes in dropped files as a desk does. */
async function takeIn({ root, store }: Workspace): Promise<string[]> {
  const folder = path.join(root, 'tasks/pending');
  const files = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  const ids: string[] = [];
  for (const file of files) {
    const place = { file, name: path.basename(file, '.json'), now: new Date().toISOString() };
    const parsed = parseTask(fs.readFileSync(path.join(folder, file)), place);
    assert.equal(parsed.kind, 'task', file);
    if (parsed.kind === 'task' && (await store.tasks.create(parsed.task))) ids.push(parsed.task.id);
    fs.rmSync(path.join(folder, file));
  }
  return ids;
}

const HELLO = {
  'guild.yaml': 'model: demo/m\nproviders: {demo: {kind: scripted, script: script.yaml}}\ngit: false\n',
  'agents/ana.md': '---\ndescription: Answers\n---\nAnswer.\n',
  'script.yaml': '- {say: "done by {{agent}}"}\n',
};

test('a task added on one machine is done on another, and its end is known on both', async (t) => {
  const state = ledgerState();
  const [desk, worker] = [await machine(t, state, HELLO), await machine(t, state, HELLO)];
  const { id } = await desk.add({ description: 'Do it', to: 'ana' });
  await worker.pumpUntilQuiet();
  assert.equal((await desk.task(id))!.task.result, 'done by ana');
  assert.deepEqual(
    (await desk.endedTasks()).map(({ task }) => task.id),
    [id],
  );
  assert.deepEqual(
    (await desk.events({ task: id })).flatMap(({ name }) => (name.startsWith('task.') ? [name] : [])).sort(),
    ['task.claimed', 'task.completed', 'task.created'],
  );
  assert.equal(fs.existsSync(path.join(worker.root, 'tasks/completed', `${id}.json`)), false, 'files are a desk’s');
});

test('a watching machine is woken by work that another one adds', async (t) => {
  const state = ledgerState();
  const [desk, worker] = [await machine(t, state, HELLO), await machine(t, state, HELLO)];
  const stop = new AbortController();
  const watching = worker.watch(stop.signal);
  const { id } = await desk.add({ description: 'Do it', to: 'ana' });
  await until(async () => (await desk.task(id))?.state === 'completed');
  stop.abort();
  await watching;
});

test('a machine that was declared dead continues under a new name', async (t) => {
  const state = ledgerState();
  const [desk, worker] = [await machine(t, state, HELLO), await machine(t, state, HELLO)];
  const stop = new AbortController();
  const watching = worker.watch(stop.signal);
  await desk.add({ description: 'First', to: 'ana' });
  const peerOf = async (): Promise<string | undefined> => (await worker.store.presence.peers())[0]?.id;
  const first = await until(peerOf);
  const key = `peer/${first}`;
  await memoryLedger(state).commit('judge', { puts: [{ ...state.entries.get(key)!, live: false }], adds: [] });
  const { id } = await desk.add({ description: 'Second', to: 'ana' });
  await until(async () => (await desk.task(id))?.state === 'completed');
  assert.notEqual(worker.store.presence.peer.id, first);
  stop.abort();
  await watching;
});

test('a pause in the store holds on every machine', async (t) => {
  const state = ledgerState();
  const [desk, worker] = [await machine(t, state, HELLO), await machine(t, state, HELLO)];
  const { id } = await desk.add({ description: 'Do it', to: 'ana' });
  const ledger = memoryLedger(state);
  const value = JSON.stringify({ reason: 'lunch' });
  await ledger.commit('pause', { puts: [{ key: 'paused/ana', value, live: true }], adds: [] });
  await worker.pumpUntilQuiet();
  assert.equal((await desk.task(id))!.state, 'pending');
  await ledger.commit('resume', { puts: [{ key: 'paused/ana', value: '', live: false }], adds: [] });
  await worker.pumpUntilQuiet();
  assert.equal((await desk.task(id))!.state, 'completed');
});

for (const name of fs.readdirSync(path.join(ROOT, 'examples'))) {
  if (!fs.existsSync(path.join(ROOT, 'examples', name, 'tasks/pending'))) continue;
  test(`examples/${name} ends the same on a shared store as on files`, async (t) => {
    const here = await onFiles(t, name);
    const state = ledgerState();
    const desk = await machine(t, state, `examples/${name}`);
    const ids = await takeIn(desk);
    await desk.pumpUntilQuiet();
    const ends = await Promise.all(ids.map(async (id) => [id, await endOf(desk, id)]));
    assert.deepEqual(Object.fromEntries(ends), here);
  });
}

async function onFiles(t: TestContext, name: string): Promise<Record<string, string>> {
  const root = tempFolder('near');
  fs.cpSync(path.join(ROOT, 'examples', name), root, { recursive: true });
  trust(root);
  const workspace = await openWorkspace(root, { env: {}, clock: yielding, history: false });
  t.after(async () => {
    await workspace.close();
    await removeFolder(root);
  });
  const ids = fs.readdirSync(path.join(root, 'tasks/pending')).flatMap((file) => file.match(/^(.*)\.json$/)?.[1] ?? []);
  await workspace.pumpUntilQuiet();
  return Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await endOf(workspace, id)])));
}

/** States of the whole tree, by role: ids of calls are random. */
async function endOf(workspace: Workspace, id: string): Promise<string> {
  const tree = await workspace.tree(id);
  return tree
    .map(({ task, state }) => `${task.role} ${task.to} ${state} ${task.parent ? '' : task.result}`)
    .sort()
    .join('\n');
}
