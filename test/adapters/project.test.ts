/** Skills and instructions are read from the files of the project. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempFolder } from '../kit/temp/folder.js';
import { turn } from '../kit/until.js';
import { disk } from '../../src/adapters/disk/index.js';
import { project } from '../../src/adapters/project/index.js';

function folder(t: TestContext, files: Record<string, string>): string {
  const root = tempFolder('project', t);
  for (const [file, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  }
  return root;
}

const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Does ${name}: well\n${more}---\nDo it.\n`;

test('skills are found in both folders, also in groups, and the first of one name wins', async (t) => {
  const root = folder(t, {
    '.agents/skills/pdf/SKILL.md': skill('pdf'),
    '.agents/skills/pdf/scripts/fill.py': 'print()\n',
    '.agents/skills/pdf/reference.md': 'More.\n',
    '.claude/skills/office/word/SKILL.md': skill('word', 'disable-model-invocation: true\n'),
    '.claude/skills/pdf/SKILL.md': skill('pdf'),
    '.claude/skills/torn/SKILL.md': 'no frontmatter\n',
  });
  const here = project(disk(), root);
  assert.deepEqual(
    here.skills().map(({ name, folder: at, isHidden }) => [name, at, isHidden]),
    [
      ['pdf', '.agents/skills/pdf', false],
      ['word', '.claude/skills/office/word', true],
    ],
  );
  const { body, files, skill: pdf } = here.skill('pdf')!;
  assert.deepEqual([body, pdf.description], ['Do it.', 'Does pdf: well']);
  assert.deepEqual(files, ['.agents/skills/pdf/reference.md', '.agents/skills/pdf/scripts/fill.py']);
  assert.deepEqual(
    here.problems().map(({ message, where }) => [message, where?.file]),
    [['this skill has no frontmatter', '.claude/skills/torn/SKILL.md']],
  );
  fs.writeFileSync(path.join(root, '.agents/skills/pdf/SKILL.md'), `${skill('pdf')}Twice.\n`);
  await turn();
  assert.equal(here.skill('pdf')!.body, 'Do it.\nTwice.', 'a changed file is read again');
});

test('the nearest instructions are used, up to the top of the repository and not beyond it', (t) => {
  const root = folder(t, {
    'AGENTS.md': 'outside\n',
    'repo/.git/HEAD': 'x\n',
    'repo/AGENTS.md': 'the repository\n',
    'repo/CLAUDE.md': 'not this one\n',
    'repo/team/guild.yaml': '\n',
    'repo/own/CLAUDE.md': 'its own\n',
    'bare/.git/HEAD': 'x\n',
  });
  const of = (at: string) => project(disk(), path.join(root, at)).instructions();
  assert.deepEqual(of('repo/team'), { file: '../AGENTS.md', text: 'the repository\n' });
  assert.deepEqual(of('repo/own'), { file: 'CLAUDE.md', text: 'its own\n' });
  assert.equal(of('bare'), undefined);
});

test('long instructions are cut, and a link is not followed', (t) => {
  const root = folder(t, { '.git/HEAD': 'x\n', 'CLAUDE.md': 'y'.repeat(100_000), 'secret.txt': 'key\n' });
  fs.symlinkSync('secret.txt', path.join(root, 'AGENTS.md'));
  const { file, text } = project(disk(), root).instructions()!;
  assert.equal(file, 'CLAUDE.md');
  assert.ok(text.length < 33_000 && text.endsWith('read the file for the rest]'));
});
