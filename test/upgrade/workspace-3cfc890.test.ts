/**
 * Processes of an older build left a workspace with work in progress. This build opens it, a person
 * answers, and all work is finished. test/fixtures/README.md describes the workspace.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeFolder, tempFolder } from '../kit/temp/folder.js';
import { openWorkspace, type OpenOptions, type Problem } from '../../src/app/index.js';
import { openHistory } from '../../src/app/readers/history.js';
import { trust } from '../kit/trust/state.js';

const FIXTURE = fileURLToPath(new URL('../../../test/fixtures/workspace-3cfc890/workspace.tar.gz', import.meta.url));
const base = tempFolder('upgrade');
const root = path.join(base, 'workspace');
const BALLOT = 'tasks/approvals.task.md';
const BOARD = 'tasks/plan.task.md';
const OPEN = ['pending', 'active', 'waiting'];

/** How every root ends: its result, or the code of its problem. */
const ENDS: Record<string, string | { error: string }> = {
  'after-half': 'After the other half.',
  'ask-two': 'Both have answered.',
  'as-before': 'Ada has spoken.',
  'back-soon': 'I am back.',
  'cancel-me': { error: 'cancelled' },
  'checkin-2': 'All is well.',
  'give-away': 'Both are back.',
  'half-done': 'Half and half make a whole.',
  'look-first': 'I looked and leapt.',
  'old-lost': { error: 'unknown_agent' },
  'page-agreed': 'The agreed page is out.',
  'page-edited': 'That was page 2.',
  'page-intent': 'That was page 2.',
  'page-open': 'That was page 2.',
  'page-refused': 'That was page 2.',
  'page-ticked': 'That was page 2.',
  'post-done': 'It was posted.',
  'post-lost': 'It may have been posted.',
  'print-a': 'Printed.',
  'print-b': 'Printed.',
  'retry-me': 'It worked the second time.',
  'save-money': 'Within the budget.',
  'stop-me': 'This is as far as I got.',
  'talk-2': 'The second answer.',
  'talk-3': 'The third answer.',
  advice: 'Yes then.',
  api: 'It is built.',
  bill: 'Dear customer: right now.',
  chain: 'A fair copy.',
  door: 'The door is right.',
  drop: 'Picked up.',
  guide: 'A guide for podman.',
  meeting: 'On Monday.',
  sail: 'We sail.',
  seek: 'Under the mat.',
  ship: 'Shipped.',
  shop: 'The shop is built.',
  song: 'O sea, O sea.',
  team: 'Blue it is.',
};

type Files = ReadonlyMap<string, string>;
let was: Files;
let is: Files;
let oldHead: string;
let pausedTask: string;
let asked: Problem[];
let restricted: Files;

before(async () => {
  execFileSync('tar', ['-xzf', FIXTURE, '-C', base]);
  // The same machine, restarted since.
  for (const file of list('agents/live'))
    edit(file, (text) =>
      text.replace('the-old-machine', os.hostname()).replace(/"bootId": "[^"]*"/, '"bootId": "old"'),
    );
  edit('script.yaml', (text) => text.replaceAll(/^.*# then\n/gm, ''));
  was = snapshot();
  oldHead = git('rev-parse', 'HEAD');
  await finish();
  is = snapshot();
});

after(() => removeFolder(base));

test('it opens restricted with one question, and nothing of it acts before it is trusted', () => {
  assert.deepEqual(
    asked.map(({ code }) => code),
    ['needs_human'],
  );
  for (const part of ['plugin post', 'storage/policy.yaml', 'storage/terminal-cmd-allowlist.yaml'])
    assert.ok(asked[0]!.message.includes(part), part);
  assert.equal(restricted.get('context/posted.txt'), was.get('context/posted.txt'));
  for (const name of ['agreed', 'ticked', 'intent'])
    assert.equal(restricted.get(`context/${name}.txt`), undefined, `an old answer does not count: ${name}`);
  assert.match(restricted.get(BALLOT)!, /content: as edited/, 'what a person wrote stays in the file');
});

test('every task ends as expected, and none is lost', () => {
  const left = [...is.keys()].filter((file) => OPEN.some((state) => file.startsWith(`tasks/${state}/`)));
  assert.deepEqual(left, []);
  for (const id of taskIds(was)) assert.ok(record(id), `${id} is gone`);
  const ends = Object.fromEntries(Object.keys(ENDS).map((id) => [id, endOf(id)]));
  assert.deepEqual(ends, ENDS);
  const roots = [...taskIds(was)].filter((id) => JSON.parse(textOf(was, id))['parent'] === undefined && isOpen(id));
  const unknown = roots.filter((id) => !(id in ENDS) && !id.startsWith('inbox-') && !id.startsWith('board-'));
  assert.deepEqual(unknown, [], 'every open root of the fixture is in the table');
});

test('tasks that had ended keep their files byte for byte', () => {
  for (const [file, text] of was)
    if (/^(tasks\/(completed|failed)|results)\//.test(file) && !file.includes('retry-me'))
      assert.equal(is.get(file), text, file);
});

test('fields that the program does not know are kept', () => {
  assert.match(textOf(is, 'drop'), /"x_ticket": "OPS-7",\s+"x_serial": 12345678901234567\d{3},\s+"x_price": 1\.50?\s/);
  assert.match(textOf(is, 'old-note'), /"x_ticket": "OPS-1"/);
});

test('no effect happens twice, and only approved effects happen', () => {
  assert.deepEqual(lines(is, 'context/posted.txt').sort(), ['hello from poster', 'hello from poster2']);
  assert.equal(is.get('workspaces/ana/note.txt'), 'once\n');
  const pages = { agreed: 'agreed\n', edited: 'as edited', intent: 'intent\n', open: 'open\n', ticked: 'ticked\n' };
  for (const [name, text] of Object.entries(pages)) assert.equal(is.get(`context/${name}.txt`), text, name);
  for (const name of ['refused', 'denied']) assert.equal(is.get(`context/${name}.txt`), undefined, name);
  const ran = events(is).filter(({ name }) => name === 'tool.ran');
  const calls = ran.map(({ task, cause }) => `${task} ${cause}`);
  assert.equal(new Set(calls).size, calls.length, 'each call ran once');
});

test('no model call is repeated', () => {
  const asked = events(is).slice(events(was).length);
  const again = asked.filter(
    ({ name, agent }) => name === 'model.answered' && ['mate', 'bosun', 'legal', 'bea'].includes(agent!),
  );
  assert.deepEqual(again, []);
});

test('conversations keep all their messages', () => {
  for (const [file, text] of was) {
    if (!file.startsWith('sessions/')) continue;
    assert.ok(messages(is.get(file)).startsWith(messages(text)), file);
  }
  const shared = is.get('sessions/sam.session.yaml')!;
  const answers = ['The first answer.', 'The second answer.', 'The third answer.'].map((text) => shared.indexOf(text));
  assert.deepEqual(
    answers.toSorted((a, b) => a - b),
    answers,
  );
  assert.ok(answers[0]! > 0);
  assert.match(
    is.get('sessions/ana-half-done.session.yaml')!,
    /A word from me, written into the file[^]*and the third half/,
  );
  const scribe = [...is].filter(([file]) => file.startsWith('sessions/scribe-')).map(([, text]) => text);
  assert.ok(
    scribe.some((text) => text.includes('The build is red')),
    'a note is read',
  );
});

test('earlier costs still count, and received bids are kept', () => {
  const usage = record('save-money')!['usage'] as Record<string, number>;
  assert.deepEqual([usage['turns'], usage['input_tokens'], usage['output_tokens']], [2, 1500, 300]);
  const { to, bids } = record('seek') as { to: string; bids: string[] };
  assert.equal(to, 'ben');
  assert.deepEqual(bids, (JSON.parse(textOf(was, 'seek')) as { bids: string[] }).bids);
});

test('a paused agent waits until a person resumes it', () => assert.equal(pausedTask, 'pending'));

test('every message becomes one task', () => {
  const mail = [...taskIds(is)].filter((id) => /^inbox-[^.]*$/.test(id));
  assert.equal(mail.length, 3);
  for (const id of mail) assert.equal(endOf(id), 'Answered.');
});

test('the board keeps every byte except its boxes and the notes below them', () => {
  const plain = (text: string): string =>
    text.replaceAll(/^( *- )\[.\]/gm, '$1[]').replaceAll(/^ *(completed_at: .*|id: board-.*)\n/gm, '');
  assert.equal(plain(is.get(BOARD)!), plain(was.get(BOARD)!));
  for (const id of ['ship', 'runtime', 'guide'])
    assert.match(is.get(BOARD)!, new RegExp(`- \\[x\\][^\n]*\n  id: ${id}\n`), id);
  assert.match(is.get(BOARD)!, /- \[-\] @hand "Not this one"/);
  assert.match(is.get(BOARD)!, /- \[ \] @human call Sarah/);
});

test('files that are only appended to keep their lines', () => {
  for (const [file, text] of was)
    if (/^(events|bus|inbox)\//.test(file)) assert.ok(is.get(file)?.startsWith(text), file);
});

test('files that people write are unchanged', () => {
  const theirs =
    /^(guild\.yaml|agents\/[a-z0-9]+\.md|memory\/|plugins\/|quarantine\/|storage\/[a-z-]*(policy|allowlist)\.yaml|\.gitignore)/;
  for (const [file, text] of was) if (theirs.test(file)) assert.equal(is.get(file), text, file);
  assert.match(is.get('storage/planner-checkin.yaml')!, /^# ours\n/);
});

test('the history continues in its own repository, and the old commits stay readable', async () => {
  assert.equal(git('rev-parse', 'HEAD'), oldHead, 'the branch is as it was');
  const history = await openHistory(root, process.env);
  const commits = await history.log({ limit: 1000 });
  await history.close();
  const old = commits.findIndex(({ id }) => id === oldHead);
  assert.ok(old > 0, 'new commits come before the old ones');
  assert.ok(commits.length > old + 1);
  assert.match(commits[old - 1]!.subject, /^history begins: \d+ files/);
  const files = git('--git-dir=.guild/history.git', 'ls-tree', '-r', '--name-only', 'HEAD').split('\n');
  const inHistory = new Set(files.map((file) => file.replace(/\/\d{4}-\d\d\/\d\d\/\d\d\/\d\d\//, '/')));
  for (const file of is.keys())
    if (/^(tasks|sessions|results|memory|context|inbox)\//.test(file)) assert.ok(inHistory.has(file), file);
});

/** Pumps, answers approvals and lets time pass until nothing is left to do. */
async function finish(): Promise<void> {
  const clock = clockFrom(Date.parse(events(was).at(-1)!.at) + 60_000);
  const options = { clock, env: { ...process.env, GUILD_SANDBOX: 'off', HOME: base } };
  const stranger = await openWorkspace(root, options);
  await stranger.pump();
  await stranger.close();
  asked = stranger.configProblems;
  restricted = snapshot();
  trust(root, options.env);
  const workspace = await openWorkspace(root, options);
  try {
    for (let rounds = 0; rounds < 40; rounds++) {
      const { due } = await workspace.pumpUntilQuiet();
      if (rounds === 0) {
        pausedTask = (await workspace.task('back-soon'))!.state;
        fs.rmSync(path.join(root, 'storage/paused/pia'));
      } else if (!answer()) {
        if (due === undefined) return;
        clock.moveTo(due);
      }
    }
    assert.fail(`still at work: ${(await workspace.openTasks()).map(({ task }) => task.id).join(' ')}`);
  } finally {
    await workspace.close();
  }
}

/**
 * A person allows everything on the ballot, one of them edited as before. True if there was
 * something.
 */
function answer(): boolean {
  let waits = false;
  edit(BALLOT, (text) => {
    waits = text.includes('- [_]');
    const edited = text.replace(/(id: page-edited\S*-again-2\n[^]*?content: )as asked/, '$1as edited');
    return edited.replaceAll('- [_]', '- [x]');
  });
  return waits;
}

/** Real time with an offset, which can be moved forward. */
function clockFrom(start: number): NonNullable<OpenOptions['clock']> & { moveTo(ms: number): void } {
  let ahead = start - Date.now();
  return {
    now: () => new Date(Date.now() + ahead),
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(done, ms);
        signal?.addEventListener('abort', done);
        function done(): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', done);
          resolve();
        }
      }),
    moveTo: (ms) => void (ahead = Math.max(ahead, ms - Date.now() + 1)),
  };
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function edit(file: string, change: (text: string) => string): void {
  const full = path.join(root, file);
  const text = fs.readFileSync(full, 'utf8');
  if (change(text) !== text) fs.writeFileSync(full, change(text));
}

function list(folder: string): string[] {
  const entries = fs.readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

function snapshot(): Files {
  const files = list('.').filter((file) => !/^\.git\/|^\.guild\/(git|history)/.test(file));
  return new Map(files.map((file) => [file, fs.readFileSync(path.join(root, file), 'utf8')]));
}

function idOf(file: string): string | undefined {
  const [, state, name] = /^tasks\/(pending|active|waiting|completed|failed)\/(.*)\.json$/.exec(file) ?? [];
  return state === 'active' ? name!.slice(0, name!.lastIndexOf('_')) : name;
}

function taskIds(files: Files): Set<string> {
  return new Set([...files.keys()].flatMap((file) => idOf(file) ?? []));
}

function textOf(files: Files, id: string): string {
  return files.get([...files.keys()].find((file) => idOf(file) === id) ?? '') ?? '{}';
}

function isOpen(id: string): boolean {
  return ![`tasks/completed/${id}.json`, `tasks/failed/${id}.json`].some((file) => was.has(file));
}

/** The record of an ended task. */
function record(id: string): Record<string, unknown> | undefined {
  const text = is.get(`tasks/completed/${id}.json`) ?? is.get(`tasks/failed/${id}.json`);
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
}

function endOf(id: string): unknown {
  const ended = record(id);
  return ended?.['result'] ?? { error: (ended?.['error'] as { code: string } | undefined)?.code };
}

function lines(files: Files, file: string): string[] {
  return (files.get(file) ?? '').split('\n').filter((line) => line !== '');
}

function events(files: Files): { at: string; name: string; task?: string; agent?: string; cause?: string }[] {
  const days = [...files.keys()].filter((file) => file.startsWith('events/')).sort();
  return days.flatMap((file) => lines(files, file)).map((line) => JSON.parse(line));
}

/** The header has a status that changes in place. */
function messages(session = ''): string {
  return session.slice(session.indexOf('messages:'));
}
