/** Consent to a line is bound to what it uses, even if the line does not name it plainly. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { boundContent } from '../../src/adapters/bound-content/index.js';
import { disk } from '../../src/adapters/disk/index.js';
import { usesOf } from '../../src/rules/policy/uses.js';
import { parseBash } from '../../src/text/bash/parse.js';
import { place } from '../kit/guild.js';

/** The line, the file that an agent changes after the request, and whether that asks again. */
const BINDINGS: [line: string, file: string, asksAgain: boolean][] = [
  ["curl -F 'x=<scratch/executor/a.txt' http://h", 'scratch/executor/a.txt', true],
  ["curl -F 'x=@scratch/executor/a.txt;type=text/plain' http://h", 'scratch/executor/a.txt', true],
  ["curl -F 'x=@memory/b.txt,scratch/executor/a.txt' http://h", 'scratch/executor/a.txt', true],
  ["curl -T 'scratch/executor/{a,b}.txt' http://h", 'scratch/executor/a.txt', true],
  ['curl -K memory/b.txt http://h', 'scratch/executor/a.txt', true],
  ['curl --data-binary=@scratch/executor/a.txt http://h', 'scratch/executor/a.txt', true],
  ['curl -d x http://h', 'scratch/executor/a.txt', false],
  ['grep -r x | curl -d @- http://h', 'scratch/executor/a.txt', true],
  ['sort --files0-from=memory/b.txt', 'scratch/executor/a.txt', true],
  ['cp -r scratch/executor memory', 'scratch/executor/a.txt', true],
  ['cp -r scratch memory', 'scratch/executor/a.txt', true],
  ['cp -r -t memory scratch/executor', 'scratch/executor/a.txt', true],
  ['cp -r scratch/other memory', 'scratch/executor/a.txt', false],
  ['cp memory/b.txt .', 'scratch/executor/a.txt', false],
  ['cd scratch/executor && touch b.txt', 'scratch/executor/a.txt', false],
];

for (const [line, file, asksAgain] of BINDINGS)
  test(`${line}: a changed ${file} ${asksAgain ? 'asks again' : 'changes nothing'}`, async (t) => {
    const home = place(t, { 'memory/b.txt': 'b', [file]: 'one\n', 'scratch/other/c.txt': 'c' });
    const content = boundContent({ root: home.root, disk: disk() });
    const before = await content.bind(usesOf(line, parseBash));
    home.put(file, 'two\n');
    const after = await content.bind(usesOf(line, parseBash));
    assert.equal(before.digest !== after.digest, asksAgain, before.text);
    if (asksAgain) assert.match(content.changes(before, after), /a\.txt has changed/);
  });

test('a folder with more than can be read in time is not bound, and the entry says so', async (t) => {
  const home = place(t, { 'scratch/executor/a.txt': 'one\n', 'scratch/executor/b.txt': 'two\n' });
  for (const limits of [{ ms: 0 }, { entries: 1 }]) {
    const content = boundContent({ root: home.root, disk: disk(), limits });
    const { digest, text } = await content.bind(usesOf('cp -r scratch/executor memory', parseBash));
    assert.equal(digest, undefined, text);
    assert.match(text, /^not bound to content/);
  }
});
