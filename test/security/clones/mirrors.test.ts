/**
 * Records of several machines that came with a folder, or were put into a store by anybody who can
 * write there: they name no file outside, run nothing, and count for nothing until they are proven.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { publishedIn } from '../../../src/adapters/definitions/index.js';
import { checkedOut } from '../../../src/app/machines/checked-out.js';
import { prepareFolder } from '../../../src/app/machines/desk-folder.js';
import { mirroredFolder } from '../../../src/app/machines/mirror/folder.js';
import { showEvents } from '../../../src/app/machines/mirror/history.js';
import { readShown } from '../../../src/app/machines/mirror/shown-record.js';
import { sumOf } from '../../../src/app/machines/mirror/rendered.js';
import { ownMirror } from '../../../src/app/machines/own-mirror.js';
import { environment, place } from '../../kit/guild.js';

const AGENT = '---\ndescription: Does things\n---\nDo it.\n';

interface Desk {
  root: string;
  env: Record<string, string>;
  /** A file that nothing may change. */
  outside: string;
}

function desk(t: TestContext): Desk {
  const home = place(t, { 'team/guild.yaml': 'model: x/y\n', 'team/agents/ana.md': AGENT, 'outside.txt': 'private' });
  const env = environment(home.root, { GUILD_STORE: 'postgres://team@127.0.0.1:1/team' });
  return { root: path.join(home.root, 'team'), env, outside: path.join(home.root, 'outside.txt') };
}

const OWN = { workspace: 'w', mustBeOwn: true };

test('the record of a mirror belongs to this folder, not to its clone or to a folder made again', (t) => {
  const { root, env } = desk(t);
  const record = ownMirror(root, env, OWN);
  assert.equal(fs.statSync(record).mode & 0o777, 0o600);
  assert.equal(ownMirror(root, env, OWN), record, 'the next process finds it');
  const clone = `${root}-clone`;
  fs.cpSync(root, clone, { recursive: true });
  assert.throws(() => ownMirror(clone, env, OWN), /not as this user synced it on this machine/);
  const fresh = ownMirror(clone, env, { ...OWN, mustBeOwn: false });
  assert.deepEqual(readShown(fresh)?.bases, {});
  fs.renameSync(root, `${root}-gone`);
  fs.mkdirSync(root);
  assert.notEqual(ownMirror(root, env, OWN), record, 'its files are not taken for deleted ones');
});

test('a record in the folder, of whatever form, counts for nothing', (t) => {
  const { root, env } = desk(t);
  const bases = { 'sessions/a.session.yaml': { sum: sumOf('x'), rev: 9 } };
  fs.mkdirSync(path.join(root, '.guild/sync'), { recursive: true });
  fs.writeFileSync(path.join(root, '.guild/sync/shown.json'), JSON.stringify({ workspace: 'w', marks: {}, bases }));
  assert.throws(() => ownMirror(root, env, OWN), /\.guild\/sync\/shown\.json|not as this user/);
  for (const name of ['../../planted', 'f'.repeat(32), '', '0'.repeat(5000)]) {
    fs.writeFileSync(path.join(root, '.guild/sync/mirror'), name);
    assert.throws(() => ownMirror(root, env, OWN), /not as this user/, name.slice(0, 40));
  }
});

test('a damaged record of a mirror is reported, not used', (t) => {
  const { root } = desk(t);
  const file = path.join(root, 'shown.json');
  const base = { sum: 'x', rev: 1 };
  const damaged = [
    ...['', 'null', '7', '[]', '{"workspace": "w"}', '{"workspace": "w", "marks": [], "bases": {}}'],
    JSON.stringify({ workspace: 'w', marks: { events: 7 }, bases: {} }),
    JSON.stringify({ workspace: 'w', marks: {}, bases: { 'memory/../../outside.txt': base } }),
    JSON.stringify({ workspace: 'w', marks: {}, bases: { 'memory/a.md': { ...base, rev: 'x' } } }),
  ];
  for (const text of damaged) {
    fs.writeFileSync(file, text);
    assert.throws(() => readShown(file), /cannot be read, so it is unknown/, text);
  }
});

test('a copied folder of definitions that names files outside removes and overwrites none', (t) => {
  const { root, env, outside } = desk(t);
  const target = `${root}-desk`;
  fs.mkdirSync(path.join(target, '.guild/sync'), { recursive: true });
  fs.mkdirSync(path.join(target, 'agents'));
  fs.symlinkSync(outside, path.join(target, 'agents/ana.md'));
  const sums = { '../outside.txt': sumOf('private'), 'agents/ana.md': sumOf('private') };
  fs.writeFileSync(path.join(target, '.guild/sync/definitions.json'), JSON.stringify(sums));
  prepareFolder(root, target, env);
  assert.equal(fs.readFileSync(outside, 'utf8'), 'private');
});

test('guild sync writes no record of its copies through a link, and waits for no pipe', (t) => {
  const { root, env, outside } = desk(t);
  const linked = `${root}-linked`;
  fs.mkdirSync(path.join(linked, '.guild/sync'), { recursive: true });
  fs.symlinkSync(outside, path.join(linked, '.guild/sync/definitions.json'));
  assert.throws(() => prepareFolder(root, linked, env), /definitions\.json is not a plain file/);
  assert.equal(fs.readFileSync(outside, 'utf8'), 'private');
  const piped = `${root}-piped`;
  fs.mkdirSync(path.join(piped, 'agents'), { recursive: true });
  execFileSync('mkfifo', [path.join(piped, 'agents/ana.md')]);
  assert.deepEqual(prepareFolder(root, piped, env), ['agents/ana.md']);
});

test('a file of the store is not written to a file outside through a link in its folder', (t) => {
  const { root, outside } = desk(t);
  fs.mkdirSync(path.join(root, 'memory'));
  fs.symlinkSync(outside, path.join(root, 'memory/.plan.md.part'));
  const folder = mirroredFolder({ root, workspace: 'w', record: path.join(root, 'shown.json') });
  folder.show('memory/plan.md', 'the plan\n', 1);
  assert.equal(fs.readFileSync(outside, 'utf8'), 'private');
  assert.equal(fs.readFileSync(path.join(root, 'memory/plan.md'), 'utf8'), 'the plan\n');
});

test('events of a store are not added to a file outside through a link', async (t) => {
  const { root, outside } = desk(t);
  fs.mkdirSync(path.join(root, 'events'));
  fs.symlinkSync(outside, path.join(root, 'events/2026-01-02.jsonl'));
  const folder = mirroredFolder({ root, workspace: 'w', record: path.join(root, 'shown.json') });
  const refused: string[] = [];
  const event = (day: string): string => JSON.stringify({ at: `${day}T00:00:00.000Z`, name: 'task.created' });
  const ledger = { lines: async () => ({ texts: [event('2026-01-02'), event('2026-01-03')], end: 2 }) };
  const context = { folder, ledger, refuse: (file: string) => void refused.push(file) };
  await showEvents(context as unknown as Parameters<typeof showEvents>[0]);
  assert.equal(fs.readFileSync(outside, 'utf8'), 'private');
  assert.deepEqual(refused, ['events/2026-01-02.jsonl']);
  assert.deepEqual(fs.readdirSync(path.join(root, 'events')).sort(), ['2026-01-02.jsonl', '2026-01-03.jsonl']);
});

test('an entry of the store that is not a valid release is ignored', () => {
  const whole = { hash: 'a', trust: 'b', by: 'c', at: 'd' };
  const published = (value: string) => publishedIn({ get: () => ({ value }) });
  assert.deepEqual(published(JSON.stringify(whole)), whole);
  for (const value of ['', 'x', 'null', '7', '[]', '{}', JSON.stringify({ ...whole, hash: {} })])
    assert.equal(published(value), undefined, value);
  assert.equal(published(JSON.stringify({ ...whole, by: 'x'.repeat(1e6) })), undefined);
  assert.deepEqual(published(JSON.stringify({ ...whole, commit: {}, more: '\u001b' })), whole);
});

test('the commit of a checkout is found without a program that its repository names', async (t) => {
  const { root, env } = desk(t);
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, encoding: 'utf8' }).trim();
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'first');
  const commit = git('rev-parse', '--short=12', 'HEAD');
  assert.equal(await checkedOut(root, env), commit);
  const canary = `${root}-canary`;
  fs.appendFileSync(
    path.join(root, '.git/config'),
    `[core]\n\tfsmonitor = "touch ${canary}; false"\n[filter "x"]\n\tclean = "touch ${canary}; cat"\n`,
  );
  fs.writeFileSync(path.join(root, '.git/info/attributes'), '* filter=x\n');
  fs.writeFileSync(path.join(root, 'agents/ana.md'), AGENT.replace('Do it', 'Do it not'));
  assert.equal(await checkedOut(root, env), `${commit} with changes`);
  assert.ok(!fs.existsSync(canary), 'a program ran');
});
