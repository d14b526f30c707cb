/** The gate shows a person the diff between the file in the folder and the requested write. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { disk } from '../../../src/adapters/disk/index.js';
import { workspaceFiles } from '../../../src/adapters/workspace-files/index.js';
import { search } from '../../../src/adapters/search/index.js';
import { gate } from '../../../src/adapters/policy-files/gate.js';
import { judgePath, judgeSpelling } from '../../../src/rules/policy/paths.js';
import { agent } from '../../kit/rule-play.js';

test('a write shows the lines it changes, and says so if it changes none', (t) => {
  const root = tempFolder('gate', t);
  const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
  fs.writeFileSync(path.join(root, 'notes.md'), before.join('\n'));
  const files = workspaceFiles({
    root,
    disk: disk(),
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search({ kind: 'lexical' }),
  });
  const { judge } = gate({ root, disk: disk(), folder: files, peer: 'me', isSandboxed: () => true });
  const diffOf = (lines: string[]): string | undefined =>
    judge(agent('ana'), 'write_file', { path: 'notes.md', content: lines.join('\n') }).diff;
  assert.equal(diffOf(before.with(1, 'two').with(37, 'thirty-eight'))?.split('\n').length, 15);
  assert.equal(diffOf(before), 'no line changes');
});

test('a rule is made for exactly one line, and never for one that runs what an agent can write', async (t) => {
  const root = tempFolder('gate', t);
  for (const folder of ['.guild/tmp', 'storage']) fs.mkdirSync(path.join(root, folder), { recursive: true });
  const files = workspaceFiles({
    root,
    disk: disk(),
    judge: { spelling: judgeSpelling, path: judgePath },
    search: search({ kind: 'lexical' }),
  });
  const { allowAlways, judge } = gate({ root, disk: disk(), folder: files, peer: 'me', isSandboxed: () => true });
  const verdict = (command: string): string => judge(agent('ana'), 'execute_command', { command }).verdict;
  for (const line of ['bash build.sh', './build.sh', 'npm test', 'cat workspaces/ana/x > out']) {
    await allowAlways(line);
    assert.equal(verdict(line), 'ask', line);
  }
  await allowAlways('touch memory/built');
  assert.deepEqual([verdict('touch memory/built'), verdict('touch memory/built x')], ['auto', 'ask']);
});
