/** The release script, in a small project with real Git and an `npm` that only passes or fails. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tempFolder } from '../kit/temp/folder.js';

const SCRIPTS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'scripts');
const CHANGELOG = '# Changelog\n\n## Unreleased\n\n- It flies.\n\n## 0.9.0 (2026-01-01)\n\n- It walks.\n';

test('a release sets the version everywhere, gives the changelog a section, commits and tags', (t) => {
  const project = makeProject(t);
  const { code, printed } = project.release('minor');
  assert.equal(code, 0, printed);
  assert.match(printed, /0\.10\.0 is committed and tagged.*git push --follow-tags.*npm publish/s);
  assert.equal(JSON.parse(project.read('package.json')).version, '0.10.0');
  const lock = JSON.parse(project.read('package-lock.json'));
  assert.deepEqual(
    [lock.version, lock.packages[''].version, lock.packages.other.version],
    ['0.10.0', '0.10.0', '0.9.0'],
  );
  assert.equal(project.read('src/cli/args/version.ts'), `export const VERSION = '0.10.0';\n`);
  assert.match(
    project.read('CHANGELOG.md'),
    /^## Unreleased\n\n## 0\.10\.0 \(\d{4}-\d\d-\d\d\)\n\n- It flies\.\n\n## 0\.9\.0/m,
  );
  assert.equal(project.git('log', '-1', '--format=%s'), 'release: 0.10.0');
  assert.equal(project.git('status', '--porcelain'), '');
  const shown = '--format=%(refname:short) %(contents:subject)%0a%0a%(contents:body)';
  assert.equal(project.git('tag', '--list', shown), 'v0.10.0 0.10.0\n\n- It flies.');
  project.git('tag', '--verify', 'v0.10.0');
  assert.match(project.release('patch').printed, /nothing under "## Unreleased"/);
});

test('a dry run prints the version and the notes and changes nothing', (t) => {
  const project = makeProject(t);
  const { code, printed } = project.release('major', '--dry-run');
  assert.deepEqual([code, printed], [0, '0.9.0 → 1.0.0\n\n- It flies.\n']);
  assert.equal(project.git('rev-list', '--count', 'HEAD'), '1');
  assert.equal(project.git('status', '--porcelain'), '');
});

test('nothing is released from a dirty tree, without notes, with failing tests or as an earlier version', (t) => {
  for (const [prepare, args, reason] of [
    [(project: Project) => project.write('new.txt', ''), ['minor'], /uncommitted changes/],
    [(project: Project) => project.commit('CHANGELOG.md', '# Changelog\n'), ['minor'], /nothing under "## Unreleased"/],
    [(project: Project) => project.commit('fails', ''), ['minor'], /the tests fail; nothing was changed/],
    [(project: Project) => project.git('tag', 'v0.9.1'), ['patch'], /the tag v0\.9\.1 exists/],
    [(project: Project) => project.git('config', '--unset', 'user.signingkey'), ['minor'], /releases are signed/],
    [() => undefined, ['0.8.0'], /0\.8\.0 is not later than 0\.9\.0/],
    [() => undefined, [], /say what to release/],
    [() => undefined, ['soon'], /say what to release/],
  ] as const) {
    const project = makeProject(t);
    prepare(project);
    const before = project.git('rev-parse', 'HEAD');
    const { code, printed } = project.release(...args);
    assert.equal(code, 1, printed);
    assert.match(printed, reason);
    assert.equal(project.git('rev-parse', 'HEAD'), before);
    assert.equal(JSON.parse(project.read('package.json')).version, '0.9.0');
  }
});

type Project = ReturnType<typeof makeProject>;

function makeProject(t: TestContext) {
  const root = tempFolder('release', t);
  const env = {
    ...process.env,
    PATH: `${path.join(root, 'tools')}:${process.env['PATH']}`,
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Ana'],
        [`GIT_${who}_EMAIL`, 'ana@example.com'],
      ]),
    ),
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' }).trim();
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  const commit = (file: string, text: string): void => {
    write(file, text);
    git('add', '--all');
    git('commit', '--quiet', '--message', 'x');
  };
  const lock = { version: '0.9.0', packages: { '': { version: '0.9.0' }, other: { version: '0.9.0' } } };
  fs.cpSync(SCRIPTS, path.join(root, 'scripts'), { recursive: true });
  write('package.json', `${JSON.stringify({ name: 'x', version: '0.9.0' }, undefined, 2)}\n`);
  write('package-lock.json', `${JSON.stringify(lock, undefined, 2)}\n`);
  write('src/cli/args/version.ts', `export const VERSION = '0.9.0';\n`);
  write('tools/npm', '#!/bin/sh\n! [ -e fails ]\n');
  fs.chmodSync(path.join(root, 'tools/npm'), 0o755);
  git('init', '--quiet');
  const key = path.join(root, '.git/key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  fs.writeFileSync(`${key}.signers`, `ana@example.com ${fs.readFileSync(`${key}.pub`, 'utf8')}`);
  git('config', 'gpg.format', 'ssh');
  git('config', 'gpg.ssh.allowedSignersFile', `${key}.signers`);
  git('config', 'user.signingkey', key);
  commit('CHANGELOG.md', CHANGELOG);
  return {
    git,
    write,
    commit,
    read: (file: string) => fs.readFileSync(path.join(root, file), 'utf8'),
    release(...args: string[]) {
      const script = path.join(root, 'scripts/release.mjs');
      const done = spawnSync(process.execPath, [script, ...args], { cwd: root, env, encoding: 'utf8' });
      return { code: done.status, printed: `${done.stdout}${done.stderr}` };
    },
  };
}
