/** Inbox lines are read tolerantly, and a bad line affects only itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import type { MailFields } from '../../../src/domain/coordination/mail.js';
import { problemText, type Problem } from '../../../src/domain/problem.js';
import { inboxLines, readInboxLine } from '../../../src/text/records/inbox.js';

const FILE = 'inbox/slack-messages.jsonl';

function read(content: string | Uint8Array): { mail: MailFields[]; problems: Problem[] } {
  const mail: MailFields[] = [];
  const problems: Problem[] = [];
  for (const line of inboxLines(Buffer.from(content as string))) {
    const read = readInboxLine(line, FILE);
    if (read.ok) mail.push(read.fields);
    else problems.push(read.problem);
  }
  return { mail, problems };
}

test('every common name of a field is accepted', () => {
  const { mail, problems } = read(
    [
      '{"id":"1","from":"sarah","channel":"#ops","text":"a","to":"planner","subject":"s","thread":"t","ts":"2026-01-01T00:00:00Z"}',
      '{"timestamp":1736000000.5,"user":"U1","message":"b","agent":"ana"}',
      '{"sender":{"name":"Tom"},"body":"c"}',
      '{"content":"d"}',
      '',
    ].join('\n'),
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(mail, [
    {
      text: 'a',
      id: '1',
      at: '2026-01-01T00:00:00Z',
      from: 'sarah',
      channel: '#ops',
      to: 'planner',
      subject: 's',
      thread: 't',
    },
    { text: 'b', at: '1736000000.5', from: 'U1', to: 'ana' },
    { text: 'c', from: 'Tom' },
    { text: 'd' },
  ]);
});

test('a bad line is reported with file, line and caret, and the others are read', () => {
  const { mail, problems } = read('{"text":"one"}\n{"text": oops}\n\n  \n{"text":"two"}\n');
  assert.deepEqual(mail, [{ text: 'one' }, { text: 'two' }]);
  assert.equal(problems.length, 1);
  const shown = problemText(problems[0]!).split('\n');
  assert.match(shown[0]!, /^inbox\/slack-messages\.jsonl:2:10: expected a value/);
  assert.deepEqual(shown.slice(1, 3), ['  {"text": oops}', '           ^']);
});

test('a line is refused if it is a list, has no text, repeats a key, nests too deeply or is not UTF-8', () => {
  const deep = '['.repeat(100) + ']'.repeat(100);
  const bad = [
    '[]',
    '"x"',
    'null',
    '{}',
    '{"text":"  "}',
    '{"text":["a"]}',
    '{"text":"a","text":"b"}',
    `{"text":"a","x":${deep}}`,
  ];
  const { mail, problems } = read(`${bad.join('\n')}\n`);
  assert.deepEqual(mail, []);
  assert.deepEqual(
    problems.map((problem) => problem.where?.line),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  const broken = Buffer.concat([
    Buffer.from('{"text":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}\n{"text":"ok"}\n'),
  ]);
  const after = read(broken);
  assert.equal(after.problems.length, 1);
  assert.deepEqual(after.mail, [{ text: 'ok' }]);
});

test('a last line without a newline is not read yet', () => {
  assert.deepEqual(read('{"text":"a"}\n{"text":"b"}'), { mail: [{ text: 'a' }], problems: [] });
  assert.deepEqual(read('{"text":"a'), { mail: [], problems: [] });
});

test('CRLF, a byte order mark and Unicode line separators are accepted', () => {
  const { mail, problems } = read('\uFEFF{"text":"a"}\r\n{"text":"b\u2028c\u2029d\u0085e"}\r\n');
  assert.deepEqual(problems, []);
  assert.deepEqual(mail, [{ text: 'a' }, { text: 'b\u2028c\u2029d\u0085e' }]);
});

test('a huge line is refused without being quoted, and the next one is read', () => {
  const { mail, problems } = read(`{"text":"${'x'.repeat(256 * 1024)}"}\n{"text":"small"}\n`);
  assert.deepEqual(mail, [{ text: 'small' }]);
  assert.equal(problems[0]!.code, 'over_limit');
  assert.equal(problems[0]!.where?.line, 1);
  assert.ok(problemText(problems[0]!).length < 500);
});

test('properties of the prototype are not fields of a line', () => {
  const { mail } = read('{"__proto__":{"from":"root"},"constructor":"x","text":"a"}\n');
  assert.deepEqual(mail, [{ text: 'a' }]);
});

test('any message is read unchanged, whatever lines surround it', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ text: fc.string({ unit: 'binary' }), junk: fc.boolean() })), (messages) => {
      const good = messages.filter((message) => !message.junk && message.text.trim() !== '');
      const lines = messages.map((message) =>
        message.junk ? `{"text":${message.text.replaceAll('\n', ' ')}` : JSON.stringify({ text: message.text }),
      );
      const { mail } = read(lines.map((line) => `${line}\n`).join(''));
      assert.deepEqual(
        mail.map((entry) => entry.text),
        // a lone half of a surrogate pair cannot be written as UTF-8
        good.map((message) => JSON.parse(JSON.stringify(message.text)) as string),
      );
    }),
  );
});

test('a message whose id is too long is refused, because a part of it may be the id of another', () => {
  const line = (id: string): string => `${JSON.stringify({ id, text: 'hello' })}\n`;
  const { mail, problems } = read(line('x'.repeat(200)) + line('x'.repeat(201)));
  assert.deepEqual(
    mail.map(({ id }) => id?.length),
    [200],
  );
  assert.deepEqual(
    problems.map(({ code, where }) => [code, where?.line]),
    [['over_limit', 2]],
  );
});
