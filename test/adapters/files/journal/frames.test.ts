/** Lines of a journal: nothing counts after the first line that is not whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import {
  JOURNAL_VERSION,
  printLine,
  readHeader,
  readLines,
  type Header,
} from '../../../../src/adapters/files/journal/frames.js';
import { adoptedName, closedName, parseJournalName } from '../../../../src/adapters/files/journal/names.js';
import type { Step } from '../../../../src/adapters/files/journal/step.js';
import { fc } from '../../../kit/properties.js';

const PEER = 'peer0001';
const HEADER: Header = {
  journal: JOURNAL_VERSION,
  peer: PEER,
  owner: { host: 'h', bootId: 'b', pid: 1, startTime: '0' },
  segment: 1,
};
/** Some are so long that their lines are compressed. */
const texts = fc
  .tuple(fc.string({ unit: 'grapheme' }), fc.constantFrom(1, 1, 500))
  .map(([text, times]) => `${text} `.repeat(times));
const steps = fc.array(
  fc.array(texts).map((all): Step => ({ puts: all.map((text) => ({ effect: 'e', text })) })),
  { minLength: 1, maxLength: 4 },
);

function printed(all: readonly Step[], peer = PEER): Buffer[] {
  return [printLine(peer, 1, HEADER), ...all.map((step, i) => printLine(peer, i + 2, step))];
}

test('every written value is read back', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const lines = readLines(Buffer.concat(printed(all)), PEER);
      assert.deepEqual(lines[0], { n: 1, header: HEADER });
      assert.deepEqual(
        lines.slice(1).map((line) => 'step' in line && line.step),
        all,
      );
    }),
  );
});

test('a file torn at any byte has its whole lines, with nothing or zeros after the tear', () => {
  const parts = printed([{ puts: [{ effect: 'a', text: 'ä\n\u0000' }] }, { placed: ['effect a'] }]);
  const whole = Buffer.concat(parts);
  for (let at = 0; at <= whole.length; at++) {
    let [count, end] = [0, 0];
    while (count < parts.length && end + parts[count]!.length <= at) end += parts[count++]!.length;
    for (const zeros of [0, 100]) {
      const lines = readLines(Buffer.concat([whole.subarray(0, at), Buffer.alloc(zeros)]), PEER);
      assert.equal(lines.length, count, `torn at ${at}, ${zeros} zeros`);
    }
  }
});

test('a long line is compressed, and torn at any byte it does not count', () => {
  const result = 'The runtime is podman, as the file says. '.repeat(100);
  const [header, long] = printed([{ puts: [{ effect: 'a', text: result }] }]);
  assert.ok(long!.length < result.length / 10, `${long!.length} bytes`);
  const whole = Buffer.concat([header!, long!]);
  for (let at = header!.length; at <= whole.length; at++) {
    const lines = readLines(Buffer.concat([whole.subarray(0, at), Buffer.alloc(8)]), PEER);
    assert.equal(lines.length, at < whole.length ? 1 : 2, `torn at ${at}`);
  }
});

test('a few bytes do not become more lines than the memory has room for', () => {
  const mebibyte = 1024 * 1024;
  const long: Step = { puts: [{ effect: 'a', text: 'a'.repeat(mebibyte) }] };
  const two = Buffer.concat(printed([long, long]));
  assert.ok(two.length < mebibyte / 50, `${two.length} bytes`);
  const room = { left: 2.5 * mebibyte };
  assert.equal(readLines(two, PEER, room).length, 3);
  assert.throws(() => readLines(two, PEER, room), SyntaxError, 'journals that are read together share the room');
  assert.throws(() => readHeader(printLine(PEER, 1, { ...HEADER, place: 'x'.repeat(2000) }), PEER), SyntaxError);
});

test('a line that is not compressed as it says makes the journal unreadable', () => {
  const body = Buffer.from('{"puts":[]}');
  const sum = crc32(body, crc32(`${PEER} 2`))
    .toString(16)
    .padStart(8, '0');
  const line = Buffer.from(`${body.length.toString(16).padStart(8, '0')} ${sum} 2 z ${body.toString()}\n`);
  assert.throws(() => readLines(Buffer.concat([printed([])[0]!, line]), PEER), SyntaxError);
});

test('a changed byte ends the journal where it is', () => {
  fc.assert(
    fc.property(steps, fc.nat(), fc.integer({ min: 1, max: 255 }), (all, place, change) => {
      const parts = printed(all);
      const bytes = Buffer.concat(parts);
      const at = place % bytes.length;
      bytes[at]! ^= change;
      const lines = readLines(bytes, PEER);
      let before = 0;
      for (let end = 0; end + parts[before]!.length <= at; before++) end += parts[before]!.length;
      assert.equal(lines.length, before);
    }),
  );
});

test('lines of another journal do not count, even in a reused file', () => {
  const mine = printed([{ placed: ['a'] }]);
  const others = printed([{ placed: ['a'] }, { placed: ['b'] }], 'peer0002');
  assert.equal(readLines(Buffer.concat(others), PEER).length, 0);
  assert.equal(readLines(Buffer.concat([...mine, others[2]!]), PEER).length, 2);
});

test('a gap in the numbers ends the journal', () => {
  const [header, first, , third] = printed([{ placed: ['a'] }, { placed: ['b'] }, { placed: ['c'] }]);
  assert.equal(readLines(Buffer.concat([header!, first!, third!]), PEER).length, 2);
});

test('a name says whose journal it is, whether it is closed, and who replays it', () => {
  const file = (name: string) => parseJournalName('/j', name);
  assert.deepEqual(file('ab12.3.log'), {
    file: '/j/ab12.3.log',
    peer: 'ab12',
    segment: 3,
    isClosed: false,
    isOld: false,
  });
  assert.equal(file('ab12.3.closed')!.isClosed, true);
  assert.equal(file('ab12.3.log.cd34')!.adopter, 'cd34');
  assert.equal(file('ab12.3.jsonl')!.isOld, true);
  for (const name of ['ab12.log', 'ab12.3.log.cd34.held', 'ab12.3.log.held.why.md', '.ab12.3.log', 'notes.txt'])
    assert.equal(name.endsWith('.held') || file(name) === undefined, true, name);
  assert.equal(file('ab12.3.log.cd34.held'), undefined);
  assert.equal(closedName('/j/ab12.3.log'), '/j/ab12.3.closed');
  for (const name of ['ab12.3.log', 'ab12.3.closed', 'ab12.3.log.cd34'])
    assert.equal(adoptedName(file(name)!, 'ef56'), '/j/ab12.3.log.ef56', name);
});
