/**
 * C1, H1: strace names every file that an auto command looks for. A canary in each of these files
 * that an agent or a user could have written has no effect. The same canaries act on a Git that the
 * program did not prepare, so the test can fail.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';
import { MODES, skipReason, type Mode } from '../kit/commands.js';

const RUNNER = path.join(path.dirname(fileURLToPath(import.meta.url)), 'auto-commands.js');
const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { stdio: 'ignore' }).status === 0;
const NO_STRACE = isInstalled('strace') ? false : 'strace is not installed';

const GIT_LINES = ['git status', 'git status --short', 'git log -p', 'git log --stat', 'git diff', 'git diff HEAD'];
const OTHER_LINES = [
  'find . -name notes.md',
  'grep -rn safe memory',
  'grep -n safe memory/notes.md | head -5 | wc -l',
  'ls -1 memory',
  'cat memory/notes.md',
  'head -3 memory/notes.md',
  'wc -l memory/notes.md',
  'pwd',
  'echo hello',
  'cat < memory/notes.md',
  ...['docker', 'podman'].filter(isInstalled).map((program) => `${program} ps`),
];
const LINES = [...GIT_LINES, ...OTHER_LINES, 'ps'];

interface Scene {
  root: string;
  /** The folder of the agent. */
  own: string;
  /** The home of the user. */
  user: string;
}

function sceneIn(t: TestContext): Scene {
  const base = tempFolder('canary', t);
  const scene = { root: path.join(base, 'w'), own: path.join(base, 'w/workspaces/ana'), user: path.join(base, 'user') };
  put(path.join(scene.root, 'memory/notes.md'), 'the safe code is 4711\n');
  put(path.join(scene.own, 'a.txt'), 'one\n');
  fs.mkdirSync(scene.user);
  return scene;
}

function put(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

function run({ root, user }: Scene, mode: Mode, trace?: string): string[] {
  const argv = [process.execPath, RUNNER, root, mode, JSON.stringify(LINES)];
  const watched = ['strace', '-f', '-qq', '-y', '-s', '500', '-e', 'trace=%file,%process', '-o', trace ?? '', ...argv];
  const [program, ...args] = trace === undefined ? argv : watched;
  const env = { PATH: process.env['PATH'], HOME: user };
  return JSON.parse(execFileSync(program!, args, { env, encoding: 'utf8', maxBuffer: 1 << 26 })) as string[];
}

/** The files that programs looked for, without those that we or the sandbox look for. */
function lookedFor(trace: string, root: string): string[] {
  const ours = new Set(['', 'node', 'bwrap', 'setpriv', 'prlimit', 'mkfifo', 'true', 'strace']);
  const programs = new Map<string, string>();
  const parents = new Map<string, string>();
  const names = new Map<string, Set<string>>();
  for (const line of fs.readFileSync(trace, 'utf8').split('\n')) {
    const [, pid = '', call = '', rest = ''] = /^(\d+) +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$/.exec(line) ?? [];
    const child = /^(?:clone3?|v?fork)$/.test(call) ? /= (\d+)/.exec(rest)?.[1] : undefined;
    if (child !== undefined) parents.set(child, pid);
    if (call === 'execve' && rest.endsWith('= 0')) programs.set(pid, path.basename(/^"([^"]*)"/.exec(rest)?.[1] ?? ''));
    const [, folder, name = ''] = /^(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"([^"]*)"/.exec(rest) ?? [];
    const key = `${pid} ${programs.get(pid) ?? ''}`;
    if (name !== '' && call !== 'execve') {
      if (!names.has(key)) names.set(key, new Set());
      names.get(key)!.add(path.resolve(folder ?? root, name));
    }
  }
  const programOf = (pid: string, known: string): string => {
    const parent = parents.get(pid);
    return known !== '' || parent === undefined ? known : programOf(parent, programs.get(parent) ?? '');
  };
  return [...names].flatMap(([key, found]) => {
    const [pid = '', known = ''] = key.split(' ');
    return ours.has(programOf(pid, known)) ? [] : [...found];
  });
}

/** Places that no agent can write: the system, and the empty home of a command. */
const SYSTEM = /^\/(?:usr|lib\w*|bin|sbin|etc|proc|sys|dev|opt|selinux|run|var\/run|nix)(?:\/|$)/;
const EMPTY_HOME = /^(?:\/home\/guild|\/nonexistent|.*\/guild-home-[^/]+\/home)(?:\/|$)/;
const SCRATCH = /\/(?:guild-home-[^/]+\/tmp|guild-pipes-[^/]+)(?:\/|$)/;

const CANARY = (file: string): string => `sh -c 'printf %s-%s CANARY RAN; echo ran >> ${file}' canary`;

/** Every setting of Git that names a program. */
function gitSettings(file: string): string {
  const run = JSON.stringify(CANARY(file));
  return `[core]
\tfsmonitor = ${run}
\tpager = ${run}
\teditor = ${run}
\tsshCommand = ${run}
\talternateRefsCommand = ${run}
\tattributesFile = .gitattributes
[diff]
\texternal = ${run}
[diff "x"]
\tcommand = ${run}
\ttextconv = ${run}
[filter "x"]
\tclean = ${run}
\tsmudge = ${run}
[pager]
\tlog = ${run}
\tdiff = ${run}
\tstatus = ${run}
[interactive]
\tdiffFilter = ${run}
[gpg]
\tprogram = ${run}
[log]
\tshowSignature = true
[uploadpack]
\tpackObjectsHook = ${run}
`;
}

function canaryFor(name: string, ran: string): string {
  if (/(?:^|\/)(?:\.gitattributes|attributes)$/.test(name)) return '* diff=x filter=x merge=x\n';
  if (/(?:ignore|exclude)$/.test(name)) return '';
  if (name.endsWith('config.json')) return JSON.stringify({ credsStore: 'x', currentContext: 'evil', plugins: {} });
  return gitSettings(ran);
}

for (const mode of MODES) {
  test(
    `C1, ${mode}: no file that an auto command looks for decides anything`,
    { skip: NO_STRACE || skipReason(mode) },
    (t) => {
      const scene = sceneIn(t);
      const { root, own, user } = scene;
      const trace = path.join(path.dirname(root), 'trace');
      run(scene, mode); // makes the repository of the agent
      put(path.join(own, 'a.txt'), 'two\n');
      const before = run(scene, mode, trace);
      const names = lookedFor(trace, root).filter((file) => !SYSTEM.test(file) && !SCRATCH.test(file));
      assert.ok(names.includes(path.join(own, '.gitattributes')), 'the trace shows what Git looks for');
      // Nothing of the user's, and nothing in a home that an agent could fill.
      assert.deepEqual(
        names.filter((file) => file.startsWith(user)),
        [],
      );
      for (const file of names.filter((name) => EMPTY_HOME.test(name))) assert.ok(!fs.existsSync(file), file);
      const inside = (file: string): boolean => file === root || file.startsWith(`${root}/`);
      const outside = names.filter((file) => !inside(file) && !EMPTY_HOME.test(file) && !root.startsWith(file));
      assert.deepEqual(outside, []);

      const ran = path.join(root, 'workspaces/ana/canary-ran');
      const planted = plant(scene, names, ran);
      for (const wanted of ['.git/config', '.gitattributes']) assert.ok(planted.includes(wanted), planted.join());
      put(path.join(own, 'a.txt'), 'three\n');
      const after = run(scene, mode);
      assert.ok(!fs.existsSync(ran));
      assert.doesNotMatch(after.join('\n'), /CANARY-RAN/);
      assert.match(after[LINES.indexOf('git log -p')]!, /two/, 'Git did look at the files');
      for (const line of OTHER_LINES) assert.equal(after[LINES.indexOf(line)], before[LINES.indexOf(line)], line);

      // The same files, read by a Git that has not been prepared.
      const plain = { cwd: own, env: { PATH: process.env['PATH'], HOME: own }, encoding: 'utf8' } as const;
      put(path.join(own, '.gitconfig'), gitSettings(ran));
      put(path.join(own, 'a.txt'), 'four\n');
      spawnSync('git', ['diff'], plain);
      assert.ok(fs.existsSync(ran), 'the canaries can run');
    },
  );
}

/** Canaries in every name that an agent could write, in the usual places and in the user's home. */
function plant({ root, own, user }: Scene, names: readonly string[], ran: string): string[] {
  const isData = (file: string): boolean =>
    /\/(?:memory|workspaces|a\.txt|notes\.md|\.git)$/.test(file) ||
    /\/\.git\/(?:objects|refs|logs|HEAD|index|packed-refs|shallow|.*_HEAD|.*\.lock|COMMIT_EDITMSG|BISECT_LOG|MERGE_|rebase-|sequencer|rr-cache|info\/grafts|t\w{6}$)/.test(
      file,
    );
  const found = names.filter((file) => file.startsWith(`${own}/`) && !isData(file));
  const usual = ['.gitconfig', '.config/git/config', '.docker/config.json', '.git/config', '.git/config.worktree'];
  const hooks = ['pre-commit', 'post-index-change', 'fsmonitor-watchman'].map((name) => `.git/hooks/${name}`);
  const targets = [...found, ...[...usual, ...hooks].map((name) => path.join(own, name))];
  for (const file of [...targets, ...usual.map((name) => path.join(user, name))]) {
    if (fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) continue;
    put(file, file.includes('/hooks/') ? `#!/bin/sh\n${CANARY(ran)}\n` : canaryFor(path.basename(file), ran));
    if (file.includes('/hooks/')) fs.chmodSync(file, 0o755);
  }
  assert.ok(fs.existsSync(root));
  return targets.map((file) => path.relative(own, file));
}
