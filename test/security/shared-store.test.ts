/**
 * Entries that a worker, or whoever has its password, put into a shared store. They become files on
 * other machines, which judge their names and texts like a stranger's.
 */
import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { keyFromSeed, memoryConsent } from '../../src/adapters/consent/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { fileTaint } from '../../src/adapters/file-taint/index.js';
import { ledgerState, memoryLedger, type LedgerState } from '../../src/adapters/ledger/memory.js';
import { sharedConsent } from '../../src/app/far/keys.js';
import { mirror, type Mirror } from '../../src/app/machines/mirror/index.js';
import { sumOf } from '../../src/app/machines/mirror/rendered.js';
import { pullStore } from '../../src/app/machines/pull.js';
import { pushStore } from '../../src/app/machines/push.js';
import type { Consent } from '../../src/ports/consent/index.js';
import type { FileTaint } from '../../src/ports/consent/file-taint.js';

interface Machine {
  root: string;
  /** A folder beside the workspace, which no entry may reach. */
  outside: string;
  mirror: Mirror;
  notes: string[];
  taint: FileTaint;
}

function machine(t: TestContext, state: LedgerState): Machine {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'guild-shared-'));
  t.after(() => fs.rmSync(home, { recursive: true, force: true }));
  const [root, outside] = [path.join(home, 'team'), path.join(home, 'outside')];
  fs.mkdirSync(path.join(root, 'memory'), { recursive: true });
  fs.mkdirSync(outside);
  const notes: string[] = [];
  const note = (text: string): void => void notes.push(text);
  const record = path.join(home, 'shown.json');
  const shown = mirror({ root, ledger: memoryLedger(state), workspace: 'w', record, now: () => new Date(), note });
  const baseOf = (file: string): { path: string; sha256: string } => {
    const at = path.join(root, file);
    return { path: file, sha256: fs.existsSync(at) ? sumOf(fs.readFileSync(at)) : 'missing' };
  };
  return { root, outside, mirror: shown, notes, taint: fileTaint({ root, disk: disk(), baseOf }) };
}

async function put(state: LedgerState, key: string, value: unknown): Promise<void> {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const answer = await memoryLedger(state).commit(`forged ${key}`, {
    puts: [{ key, value: text, live: key.startsWith('task/') }],
    adds: [],
  });
  assert.notEqual(answer, 'fenced');
}

const task = (id: string): object => ({
  ...{ id, root: id, depth: 0, role: 'root', description: 'x', requirements: [], dependencies: [], context: {} },
  ...{ priority: 'C', created_by: 'human', created_at: '2026-01-01T00:00:00.000Z', attempts: 0, version: 1 },
});

/** Every file below a folder, with its text. */
function contents(folder: string): string[] {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

test('an entry whose name leads out of the folder is not shown, and the others are', async (t) => {
  const state = ledgerState();
  const { root, outside, mirror: shown, notes } = machine(t, state);
  const long = 'n'.repeat(300);
  for (const name of ['../../outside/a', 'memory/../../outside/b.md', 'memory/\0c.md', `memory/${long}.md`])
    await put(state, `doc/${name}`, { text: 'forged' });
  await put(state, 'doc/memory/.hidden/d.md', { text: 'forged' });
  await put(state, 'doc/memory/e.md', 'not a document');
  await put(state, 'task/../../outside/f', { task: task('../../../outside/f'), state: 'pending' });
  await put(state, 'task/g', { task: task('../../../outside/g'), state: 'completed' });
  await put(state, 'task/h', { task: task('h'), state: '../../outside' });
  await memoryLedger(state).commit('forged session', {
    puts: [],
    adds: [
      {
        log: 'session/../../outside/i',
        text: JSON.stringify([{ whole: { header: { id: 'i', agent: 'ana' }, messages: [] } }]),
      },
    ],
  });
  await put(state, 'doc/memory/fine.md', { text: 'fine' });
  await put(state, 'task/fine', { task: task('fine'), state: 'pending' });
  await shown.look();
  await shown.look();
  assert.deepEqual(contents(outside), []);
  assert.equal(fs.readFileSync(path.join(root, 'memory/fine.md'), 'utf8'), 'fine');
  assert.ok(fs.existsSync(path.join(root, 'tasks/pending/fine.json')));
  assert.deepEqual(fs.readdirSync(path.join(root, 'memory')), ['fine.md']);
  assert.equal(new Set(notes).size, notes.length, 'each is reported once');
  assert.ok(notes.some((text) => text.includes('outside/f.json')));
});

test('a text is not written through a link, and not read through one', async (t) => {
  const state = ledgerState();
  const { root, outside, mirror: shown } = machine(t, state);
  fs.writeFileSync(path.join(outside, 'private.md'), 'private');
  fs.symlinkSync(outside, path.join(root, 'memory/link'));
  fs.symlinkSync(outside, path.join(root, 'context'));
  fs.symlinkSync(path.join(outside, 'private.md'), path.join(root, 'memory/one.md'));
  for (const file of ['memory/link/private.md', 'memory/link/new.md', 'context/new.md', 'memory/one.md'])
    await put(state, `doc/${file}`, { text: 'forged' });
  await shown.look();
  await shown.look();
  assert.deepEqual(contents(outside), [path.join(outside, 'private.md')]);
  assert.equal(fs.readFileSync(path.join(outside, 'private.md'), 'utf8'), 'private');
  assert.ok(![...state.entries.values()].some(({ value }) => value.includes('private')), 'nothing of it left');
});

test('two machines that use one name for a file and for a folder keep working', async (t) => {
  const state = ledgerState();
  const [one, two] = [machine(t, state), machine(t, state)];
  fs.writeFileSync(path.join(one.root, 'memory/plan'), 'a file');
  fs.mkdirSync(path.join(two.root, 'memory/plan'));
  fs.writeFileSync(path.join(two.root, 'memory/plan/a.md'), 'in a folder');
  for (const { mirror: shown } of [one, two, one, two]) await shown.look();
  fs.writeFileSync(path.join(one.root, 'memory/later.md'), 'later');
  for (const { mirror: shown } of [one, two]) await shown.look();
  assert.equal(fs.readFileSync(path.join(two.root, 'memory/later.md'), 'utf8'), 'later');
  assert.match(one.notes.join('\n'), /memory\/plan\/a\.md/);
});

test('a text from outside is still from outside on another machine', async (t) => {
  const state = ledgerState();
  const [one, two] = [machine(t, state), machine(t, state)];
  one.taint.writes('memory/page.md', 'from a page', ['https://evil.example/']);
  fs.writeFileSync(path.join(one.root, 'memory/page.md'), 'from a page');
  one.taint.runs('ana', ['https://evil.example/']);
  fs.mkdirSync(path.join(one.root, 'scratch/ana'), { recursive: true });
  fs.writeFileSync(path.join(one.root, 'scratch/ana/out.txt'), 'made by a command');
  fs.writeFileSync(path.join(one.root, 'memory/own.md'), 'clean');
  await one.mirror.look();
  await two.mirror.look();
  assert.equal(fs.readFileSync(path.join(two.root, 'memory/page.md'), 'utf8'), 'from a page');
  assert.deepEqual(two.taint.of('memory/page.md'), ['https://evil.example/']);
  assert.deepEqual(two.taint.of('scratch/ana/out.txt'), ['https://evil.example/']);
  assert.deepEqual(two.taint.of('memory/own.md'), []);
  await put(state, 'doc/memory/odd.md', { text: 'odd', taint: 7 });
  await two.mirror.look();
  assert.deepEqual(two.taint.of('memory/odd.md'), ['unknown']);
});

const NOBODY: Consent = {
  sign: () => '',
  seal: () => '',
  isSealed: () => true,
  isSigned: () => false,
  hasShown: () => false,
  noteShown: async () => undefined,
  begin: async () => true,
};

test('a pull writes work only: no definitions, and nothing outside its folder', async (t) => {
  const state = ledgerState();
  const { root, outside, taint } = machine(t, state);
  for (const folder of ['agents', '.guild/journal']) fs.mkdirSync(path.join(root, folder), { recursive: true });
  fs.writeFileSync(path.join(root, 'agents/ana.md'), 'own');
  taint.writes('memory/page.md', 'from a page', ['https://evil.example/']);
  fs.writeFileSync(path.join(root, 'memory/page.md'), 'from a page');
  await pushStore(root, memoryLedger(state));
  for (const file of [
    'agents/ana.md',
    'agents/eve.md',
    'guild.yaml',
    '.guild/x',
    '../outside/a',
    'plugins/x/index.mjs',
  ])
    await put(state, `doc/${file}`, { text: 'forged' });
  await put(state, 'blob/../../../outside/b', 'Zm9yZ2Vk');
  await put(state, 'effect/../../../outside/c', { digest: '', what: '', at: '' });
  const target = path.join(root, '..', 'pulled');
  const { refused } = await pullStore(root, target, memoryLedger(state), NOBODY);
  assert.deepEqual(contents(outside), []);
  assert.equal(fs.readFileSync(path.join(target, 'agents/ana.md'), 'utf8'), 'own');
  for (const file of ['agents/eve.md', 'guild.yaml', '.guild/x', 'plugins'])
    assert.ok(!fs.existsSync(path.join(target, file)), file);
  assert.equal(refused?.length, 8);
  assert.match(fs.readFileSync(path.join(target, '.guild/file-taint.jsonl'), 'utf8'), /memory\/page\.md.*evil/);
});

test('an answer counts if a key in the store signed exactly it, for this store', () => {
  const desk = memoryConsent(keyFromSeed('desk'));
  const worker = memoryConsent(keyFromSeed('worker'));
  const pem = createPublicKey(keyFromSeed('desk')).export({ type: 'spki', format: 'pem' }).toString();
  const answer = { approved: true, at: '2026-01-01T00:00:00.000Z' };
  const given = { task: 't.call-1', digest: 'seen', answer };
  const signature = desk.sign(given);
  const isSigned = (keys: string[], more: Partial<typeof given> = {}, name = 'recording'): boolean =>
    sharedConsent(worker, name, () => keys).isSigned({ ...given, ...more }, signature);
  assert.ok(isSigned(['not a key', pem]));
  assert.ok(!isSigned([]), 'a key that no desk has published');
  assert.ok(!isSigned([pem], { task: 't.call-2' }) && !isSigned([pem], { digest: 'another' }));
  assert.ok(!isSigned([pem], { answer: { ...answer, edited: { command: 'rm' } } as never }));
  assert.ok(!isSigned([pem], {}, 'another store'));
  assert.ok(!sharedConsent(worker, 'recording', () => [pem]).isSigned(given, undefined));
});
