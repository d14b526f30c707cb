/**
 * `npm run release -- minor`: runs the tests, sets the version, turns the changelog's Unreleased
 * into a section, commits and signs a tag. Also takes patch, major or a version; `--dry-run` only
 * prints.
 * It does not publish: it ends by printing the two commands that do.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { fail, ROOT } from './setup.mjs';

const VERSION_FILE = 'src/cli/args/version.ts';

const { values, positionals } = parseArgs({ options: { 'dry-run': { type: 'boolean' } }, allowPositionals: true });
const isDry = values['dry-run'] === true;
const current = JSON.parse(read('package.json')).version;
const version = nextVersion(current, positionals[0]);
const tag = `v${version}`;
if (git('status', '--porcelain') !== '') fail('there are uncommitted changes; commit them first');
if (git('config', '--default', '', '--get', 'user.signingkey') === '')
  fail('releases are signed: set user.signingkey in git, for example to an SSH key with gpg.format ssh');
if (git('tag', '--list', tag) !== '') fail(`the tag ${tag} exists already`);
const section = unreleased(read('CHANGELOG.md'));
if (
  !isDry &&
  spawnSync('npm', ['test'], { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' }).status !== 0
)
  fail('the tests fail; nothing was changed');

const changes = {
  'package.json': setVersion(read('package.json'), 1),
  'package-lock.json': setVersion(read('package-lock.json'), 2),
  [VERSION_FILE]: read(VERSION_FILE).replace(`'${current}'`, `'${version}'`),
  'CHANGELOG.md': read('CHANGELOG.md').replace(/^## Unreleased$/m, `## Unreleased\n\n## ${version} (${today()})`),
};
if (isDry) {
  process.stdout.write(`${current} → ${version}\n\n${section}\n`);
} else {
  for (const [file, text] of Object.entries(changes)) fs.writeFileSync(path.join(ROOT, file), text);
  git('commit', '--quiet', '--message', `release: ${version}`, '--', ...Object.keys(changes));
  git('tag', '--sign', tag, '--cleanup=verbatim', '--message', `${version}\n\n${section}\n`);
  process.stdout.write(`${version} is committed and tagged. To publish it:\n  git push --follow-tags\n  npm publish\n`);
}

function nextVersion(from, wanted) {
  const [major, minor, patch] = from.split('.').map(Number);
  const steps = {
    major: [major + 1, 0, 0],
    minor: [major, minor + 1, 0],
    patch: [major, minor, patch + 1],
  };
  const next = steps[wanted]?.join('.') ?? wanted;
  if (!/^\d+\.\d+\.\d+$/.test(next ?? '')) fail('say what to release: patch, minor, major or a version such as 1.2.3');
  if (!isLater(next, from)) fail(`${next} is not later than ${from}`);
  return next;
}

function isLater(next, from) {
  const [a, b] = [next, from].map((text) => text.split('.').map(Number));
  const index = a.findIndex((number, i) => number !== b[i]);
  return index >= 0 && a[index] > b[index];
}

/** The text under Unreleased. */
function unreleased(changelog) {
  const text = (/^## Unreleased\n([^]*?)(?=^## |$(?![^]))/m.exec(changelog)?.[1] ?? '').trim();
  if (text === '') fail('CHANGELOG.md has nothing under "## Unreleased"');
  return text;
}

/** The package's own version comes first: once in package.json, twice in the lock file. */
function setVersion(text, times) {
  for (let done = 0; done < times; done++) text = text.replace(`"version": "${current}"`, `"version": "${version}"`);
  return text;
}

function today() {
  return new Date().toISOString().slice(0, 10);
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

function read(file) {
  return fs.readFileSync(path.join(ROOT, file), 'utf8');
}
