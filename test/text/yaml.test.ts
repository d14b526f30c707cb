/** A bracket that is not closed is reported where it is, not where the parser gives up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadYaml, wholeFile } from '../../src/text/yaml/parse.js';

function problemIn(text: string): { message: string; line?: number; column?: number } {
  const loaded = loadYaml(wholeFile('guild.yaml', text));
  assert.ok(!loaded.ok, text);
  const { message, where } = loaded.problem;
  return { message, line: where?.line, column: where?.column };
}

test('an unclosed bracket is reported at the bracket', () => {
  assert.deepEqual(problemIn('plugins: [slack\nmodel: x\n'), { message: 'this [ is not closed', line: 1, column: 10 });
  assert.deepEqual(problemIn('a: 1\nb: {c: [1, 2]\n'), { message: 'this { is not closed', line: 2, column: 4 });
  assert.deepEqual(problemIn('a: {b: "]", c: [1 # ]\n'), { message: 'this [ is not closed', line: 1, column: 16 });
});

test('a bracket inside a text or a comment is not blamed', () => {
  assert.doesNotMatch(problemIn('a: it is [open\nb: "x\n').message, /not closed/);
  assert.doesNotMatch(problemIn('# [open\na: b: c\n').message, /not closed/);
});
