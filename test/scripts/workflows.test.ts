/** The files in .github: they are valid, run scripts that exist, and their shards are complete. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

interface Job {
  strategy: { matrix: Record<string, unknown[]> };
  'timeout-minutes': number;
  steps: { run?: string }[];
}

const workflow = (name: string): Job =>
  (parse(fs.readFileSync(path.join(ROOT, '.github/workflows', name), 'utf8')) as { jobs: { test: Job } }).jobs.test;
const commands = (job: Job): string[] => job.steps.flatMap(({ run }) => run ?? []);
const packageJson = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  engines: { node: string };
  repository: { url: string };
  bugs: string;
  homepage: string;
};

test('every npm script that a workflow runs exists', () => {
  for (const name of fs.readdirSync(path.join(ROOT, '.github/workflows')))
    for (const command of commands(workflow(name)))
      for (const [, script = ''] of command.matchAll(/\bnpm (?:run )?([\w:-]+)/g))
        assert.ok(script in packageJson.scripts, `${name}: npm run ${script}`);
});

test('a change is tested on the oldest supported Node and two newer ones, on Linux and macOS', () => {
  const { os, node } = workflow('test.yml').strategy.matrix;
  assert.deepEqual(os, ['ubuntu-latest', 'macos-latest']);
  assert.deepEqual(node, [packageJson.engines.node.slice('>='.length), '22', '24']);
});

test('the shards of the nightly run are complete', () => {
  const job = workflow('nightly.yml');
  const count = Number(/--shard \$\{\{ matrix\.shard \}\}\/(\d+)/.exec(commands(job).join('\n'))![1]);
  assert.deepEqual(
    job.strategy.matrix['shard'],
    Array.from({ length: count }, (_, n) => n + 1),
  );
});

test('every file for the host is valid YAML and names one address', () => {
  const address = packageJson.repository.url.replace(/^git\+|\.git$/g, '');
  assert.equal(packageJson.bugs, `${address}/issues`);
  assert.equal(packageJson.homepage, `${address}#readme`);
  const files = fs.readdirSync(path.join(ROOT, '.github'), { recursive: true, encoding: 'utf8' });
  const texts = files.filter((file) => /\.(ya?ml|md)$/.test(file)).map((file) => path.join('.github', file));
  for (const file of [...texts, 'CONTRIBUTING.md', 'SECURITY.md']) {
    const text = fs.readFileSync(path.join(ROOT, file), 'utf8');
    if (/\.ya?ml$/.test(file)) assert.ok(parse(text), file);
    for (const [link] of text.matchAll(/https:\/\/github\.com\/[\w-]+\/[\w-]+/g))
      assert.ok(link === address || link.includes('containers/bubblewrap'), `${file}: ${link}`);
  }
});
