/** Scripts are read strictly, with the place of every error. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { readScript } from '../../../src/text/config/script.js';

test('the script in the documentation is valid', () => {
  const page = readFileSync(new URL('../../../../docs/explanation/models.md', import.meta.url), 'utf8');
  const script = /```yaml\n(# script\.yaml\n[^]*?)```/.exec(page)![1]!;
  const read = readScript(script, 'docs/explanation/models.md');
  assert.ok(read.ok, JSON.stringify(read));
  assert.deepEqual(
    read.lines.map((line) => line.line),
    [2, 7, 10, 14, 18],
  );
  assert.deepEqual(read.lines[2]!.when, { last: ['risk', /danger/i] });
  assert.equal(read.lines[3]!.retryAfterMs, 2000);
});

test('all errors are reported at once, each with its place', () => {
  const read = readScript('- agent: a\n  sya: x\n- turn: first\n  say: y\n- just text\n', 's.yaml');
  assert.ok(!read.ok);
  assert.deepEqual(
    read.problems.map(({ where, code }) => `${where!.line}:${where!.column} ${code}`),
    ['1:3 bad_field', '2:3 unknown_key', '3:9 bad_field', '5:3 bad_field'],
  );
});

test('no text makes the reader throw, and a valid script has lines', () => {
  const bits = fc.constantFrom(
    '- ',
    'say: ',
    'agent: ',
    'when: ',
    '/(/',
    '{',
    '}',
    '[',
    ']',
    '\n',
    '  ',
    '&a ',
    '*a',
    'x',
    ': ',
    '"',
    '|',
    '!!js ',
    '<<: ',
    '\t',
    '1',
    '~',
  );
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 20 }), (parts) => {
      const read = readScript(parts.join(''), 's');
      if (!read.ok)
        assert.ok(read.problems.length > 0 && read.problems.every((problem) => problem.where?.file === 's'));
      else
        for (const line of read.lines)
          assert.ok(line.say !== '' || line.call.length > 0 || line.fail !== undefined || line.line > 0);
    }),
    { numRuns: 2000 },
  );
});

test('nested YAML aliases do not exhaust memory', () => {
  const bomb = [
    '- &a {call: [{x: {}}]}',
    ...Array.from(
      { length: 30 },
      (_, at) =>
        `- &b${at} [${Array(9)
          .fill(at === 0 ? '*a' : `*b${at - 1}`)
          .join(', ')}]`,
    ),
  ].join('\n');
  const read = readScript(`${bomb}\n- {say: x, when: *b29}`, 's');
  assert.ok(!read.ok);
});
