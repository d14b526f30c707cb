/**
 * A folder that came from elsewhere has links in its state: nothing is written, removed or read
 * through them. A linked `.guild/tmp` once had old files removed from any folder of the user.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { place, scripted, type Place } from '../../kit/guild.js';

const OWN = ['notified', 'journal', 'tmp', 'run', 'history', 'evidence', 'torn', 'intents', 'live', 'turns', 'private'];
const FOLDERS = ['tasks/completed', 'tasks/pending', 'storage/blobs', 'storage/paused', 'agents/live', 'inbox/kept'];
const LONG_AGO = new Date('2020-01-01');

/** Everything in a folder with its content and time. */
function stateOf({ root }: Place): string[] {
  return fs.readdirSync(root).map((name) => {
    const file = path.join(root, name);
    return `${name} ${fs.statSync(file).mtimeMs} ${fs.readFileSync(file, 'utf8')}`;
  });
}

for (const link of [...OWN.map((name) => `.guild/${name}`), ...FOLDERS, '.guild/history.git/objects'])
  test(`${link} as a link: nothing outside changes, and the link is named`, async (t) => {
    const victim = place(t, { 'diary.txt': 'dear diary\n', 'photo.jpg': 'x', 'package.json': '{"no": "task"}' });
    for (const name of victim.list('.')) fs.utimesSync(path.join(victim.root, name), LONG_AGO, LONG_AGO);
    const before = stateOf(victim);
    const clone = place(t, scripted('- {say: done}', { 'tasks/waiting/.keep': '' }));
    clone.put('guild.yaml', `${clone.read('guild.yaml')}notify: {desktop: true, gather: 1ms}\n`);
    if (link !== 'tasks/pending') clone.put('tasks/pending/t1.json', '{"description": "tidy", "to": "boss"}');
    const full = path.join(clone.root, link);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.symlinkSync(victim.root, full);
    for (const args of [['pump'], ['run', 'boss', 'hello'], ['watch']]) {
      const ran = await clone.guildWith({ untrusted: true }, ...args);
      assert.equal(ran.code, 3, ran.out + ran.err);
      assert.match(ran.err, new RegExp(`${link.replaceAll('.', '\\.')} is a link`));
      assert.deepEqual(stateOf(victim), before, args.join(' '));
    }
    for (const args of [['task', 'list'], ['check'], ['doctor'], ['approve'], ['log'], ['task', 'add', 'more']]) {
      await clone.guildWith({ untrusted: true }, ...args);
      assert.deepEqual(stateOf(victim), before, args.join(' '));
    }
  });

for (const link of ['logs/HEAD', 'logs/refs/heads/main', 'refs/heads/main', 'objects/pack', 'logs'])
  for (const isDangling of [false, true])
    test(`history.git/${link} as a ${isDangling ? 'dangling ' : ''}link: git writes nothing outside`, async (t) => {
      const victim = place(t, { 'diary.txt': 'dear diary\n' });
      const before = stateOf(victim);
      const clone = place(
        t,
        scripted('- {say: done}', { 'tasks/pending/t1.json': '{"description": "tidy", "to": "boss"}' }),
      );
      const full = path.join(clone.root, '.guild/history.git', link);
      fs.mkdirSync(path.dirname(full), { recursive: true, mode: 0o700 });
      const isFolder = link === 'objects/pack' || link === 'logs';
      fs.symlinkSync(
        isDangling ? path.join(victim.root, 'new') : isFolder ? victim.root : path.join(victim.root, 'diary.txt'),
        full,
      );
      const ran = await clone.guildWith({ untrusted: true }, 'pump');
      assert.equal(ran.code, 3, ran.out + ran.err);
      assert.match(ran.err, new RegExp(`history\\.git/${link} is a link`));
      assert.deepEqual(stateOf(victim), before);
    });

test('a linked rule file or board of the user still works', async (t) => {
  const dotfiles = place(t, { 'policy.yaml': '# none\n', 'today.md': '# Today\n' });
  const home = place(t, scripted('- {say: done}'));
  fs.mkdirSync(path.join(home.root, 'storage'), { mode: 0o700 });
  fs.mkdirSync(path.join(home.root, 'tasks'), { mode: 0o700 });
  fs.symlinkSync(path.join(dotfiles.root, 'policy.yaml'), path.join(home.root, 'storage/policy.yaml'));
  fs.symlinkSync(path.join(dotfiles.root, 'today.md'), path.join(home.root, 'tasks/today.task.md'));
  const { code, err } = await home.guild('pump');
  assert.equal(code, 0, err);
});

test('a link that leads to itself does not close the workspace', async (t) => {
  const home = place(t, scripted('- {say: done}'));
  fs.mkdirSync(path.join(home.root, 'tasks'), { mode: 0o700 });
  fs.symlinkSync('loop', path.join(home.root, 'tasks/loop'));
  const { code, err } = await home.guild('pump');
  assert.equal(code, 0, err);
});

/** How a folder from elsewhere makes the program use another repository of the user. */
const REDIRECTED: Record<string, (clone: Place, victim: string) => void> = {
  'a file commondir in .git'(clone, victim) {
    clone.put('.git/HEAD', 'ref: refs/heads/main\n');
    clone.put('.git/commondir', `${victim}\n`);
  },
  'a worktree that it brings'(clone, victim) {
    clone.put('.git', 'gitdir: fake\n');
    clone.put('fake/HEAD', 'ref: refs/heads/main\n');
    clone.put('fake/gitdir', '../.git\n');
    clone.put('fake/commondir', `${victim}\n`);
  },
  'a linked branch'(clone, victim) {
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: clone.root });
    fs.symlinkSync(path.join(victim, 'refs/heads/main'), path.join(clone.root, '.git/refs/heads/main'));
    fs.rmSync(path.join(clone.root, '.git/objects'), { recursive: true });
    fs.symlinkSync(path.join(victim, 'objects'), path.join(clone.root, '.git/objects'));
  },
};

for (const [way, redirect] of Object.entries(REDIRECTED))
  test(`${way}: history on the branch does not commit to another repository`, async (t) => {
    const project = place(t);
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=v', '-c', 'user.email=v@x', ...args], {
        cwd: project.root,
        encoding: 'utf8',
      });
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'mine');
    const clone = place(t, scripted('- {say: done}'));
    clone.put('guild.yaml', `${clone.read('guild.yaml')}git: {branch: true}\n`);
    redirect(clone, path.join(project.root, '.git'));
    const { out, err } = await clone.guildWith({ untrusted: true }, 'run', 'boss', 'hello');
    assert.equal(git('log', '--all', '--format=%s'), 'mine\n', out + err);
    assert.equal(git('status', '--porcelain'), '');
  });

test('history does not follow a folder that is a link, and an undo brings the folder back', async (t) => {
  const victim = place(t, { 'diary.txt': 'dear diary\n' });
  const home = place(t, scripted('- {say: done}', { 'memory/a.md': 'a\n' }));
  const history = (...args: string[]): string =>
    execFileSync('git', ['--git-dir', path.join(home.root, '.guild/history.git'), ...args], { encoding: 'utf8' });
  await home.guild('run', 'boss', 'hello');
  const before = history('rev-parse', 'main').trim();
  fs.rmSync(path.join(home.root, 'memory'), { recursive: true });
  for (const folder of ['memory', 'context']) fs.symlinkSync(victim.root, path.join(home.root, folder));
  await home.guild('run', 'boss', 'hello again');
  assert.match(history('ls-tree', 'main', 'memory', 'context'), /^120000 .*context\n120000 .*memory\n$/);
  assert.doesNotMatch(history('ls-tree', '-r', 'main'), /diary/);
  const { err, code } = await home.guild('undo', before, '--yes');
  assert.equal(code, 0, err);
  assert.deepEqual(home.list('memory'), ['a.md']);
  assert.deepEqual(victim.list('.'), ['diary.txt']);
});

/** A history whose commit before the last has these files, made without the program. */
function withHistory({ root }: Place, tree: string): void {
  const gitDir = path.join(root, '.guild/history.git');
  const git = (input: string | Buffer, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
      input,
      encoding: 'utf8',
      env: { ...process.env, GIT_DIR: gitDir },
    }).trim();
  const blob = git('planted\n', 'hash-object', '-w', '--stdin');
  const lead = git('..', 'hash-object', '-w', '--stdin');
  const below = git(`100644 blob ${blob}\tdiary.txt\n`, 'mktree');
  const entry = (mode: string, name: string, id: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  const entries = {
    folder: [entry('40000', 'x~', below)],
    both: [entry('120000', 'x', lead), entry('40000', 'x', below)],
  };
  const hashed = git(
    Buffer.concat(entries[tree as 'both']),
    'hash-object',
    '-t',
    'tree',
    '-w',
    '--stdin',
    '--literally',
  );
  const now = git('', 'rev-parse', 'refs/heads/main^{tree}');
  const others = git('', 'ls-tree', now)
    .split('\n')
    .filter((line) => !line.endsWith('\tmemory'));
  const then = git(`${[...others, `040000 tree ${hashed}\tmemory`].join('\n')}\n`, 'mktree');
  const one = git('', 'commit-tree', then, '-p', 'refs/heads/main', '-m', 'one');
  const two = git('', 'commit-tree', now, '-p', one, '-m', 'two');
  const three = git('', 'commit-tree', then, '-p', two, '-m', 'three');
  git('', 'update-ref', 'refs/heads/main', three);
  fs.rmSync(path.join(root, '.guild/history/stamps'), { force: true });
}

for (const [how, tree] of [
  ['a link that came with the folder', 'folder'],
  ['a link in the history itself', 'both'],
])
  test(`an undo neither writes nor removes a file behind ${how}`, async (t) => {
    const victim = place(t, { 'diary.txt': 'dear diary\n' });
    const clone = place(t, scripted('- {say: done}', { 'memory/a.md': 'a\n' }));
    await clone.guild('run', 'boss', 'hello');
    withHistory(clone, tree!);
    fs.symlinkSync(victim.root, path.join(clone.root, 'memory/x~'));
    for (const to of ['HEAD~1', 'HEAD~2']) {
      const { out, err, code } = await clone.guildWith({ untrusted: true }, 'undo', to, '--yes');
      assert.equal(code, 0, err);
      assert.doesNotMatch(out, /diary/);
      assert.equal(victim.read('diary.txt'), 'dear diary\n', to);
      assert.ok(!fs.existsSync(path.join(clone.root, 'diary.txt')), to);
    }
  });
