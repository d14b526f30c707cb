import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc, runs } from '../kit/properties.js';
import { CORE_SCHEMA, load } from 'js-yaml';
import { parse } from 'yaml';
import { MESSAGE_KINDS, type Message, type Session, type SessionHeader } from '../../src/domain/session/session.js';
import { parseSession, printHeader, printMessages } from '../../src/text/session/parse.js';
import { loadOwnFormat } from '../../src/text/session/own-format.js';
import { repairTail } from '../../src/text/session/tail.js';
import { loadYaml, wholeFile } from '../../src/text/yaml/parse.js';
import { yamlValue } from '../../src/text/yaml/scalar.js';

const NASTY = [
  ...[
    '',
    ' ',
    '\n',
    '\n\n',
    ' \n',
    '\n ',
    ' a',
    'a ',
    '\ta',
    'a\t',
    'a\n',
    'a\n\n',
    'a\n\n\n',
    '\na',
    '\n\n  a\nb',
    'a\n \nb',
  ],
  ...[
    'a\n\tb\n',
    '  a\nb',
    'a\r\nb',
    '\r',
    'a\u0000b',
    '\u007f',
    '\u0085',
    '\u009f',
    '\u2028x',
    'x\u2029',
    '\ufeff',
    '\ud800',
    '\udc00x',
  ],
  ...[
    '- a',
    '# a',
    'a # b',
    'a: b',
    'a:',
    '? a',
    '!a',
    '&a',
    '*a',
    '[a',
    '{a',
    '%a',
    '@a',
    '`a',
    '|',
    '>',
    "'",
    '"',
    "it's",
    '\\n',
  ],
  ...[
    'null',
    '~',
    'true',
    'no',
    'Off',
    '1',
    '-1',
    '0x1F',
    '0o7',
    '1e3',
    '.inf',
    '.NaN',
    '2001-01-01',
    '<<',
    '=',
    '---',
    '...',
  ],
  ...[
    '---\na: b\n---',
    '...\n',
    "timestamp: '2026'",
    "  - role: user\n    timestamp: 'x'\n",
    'a\n  - role: x',
    '😀\nb',
    'é',
    'a\u00a0b',
    'x\ufffey',
  ],
  ...[
    'a,b; c',
    'y',
    'a  b',
    "a 'b' c",
    'key: |\n  x\n',
    '\n#x\n',
    'a\n# x',
    'a\n\n\n\nb',
    ' \n a',
    'a\n  ',
    'a\n \n',
    'a\n\t\n',
    '\t\nb',
  ],
];
const text = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: fc.constantFrom('a', ' ', '\n', ':', '-', '#', "'", '"', '\t', '|', '\\', '\r', '{', '0') }),
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...NASTY), { maxLength: 4 }).map((parts) => parts.join('')),
);

const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const args = fc.dictionary(fc.oneof(fc.constantFrom('path', 'content', '__proto__', 'y', '1'), text), value, {
  maxKeys: 4,
  noNullPrototype: true,
});

const count = fc.nat();
const message: fc.Arbitrary<Message> = fc
  .record(
    {
      role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
      content: text,
      toolCalls: fc.array(fc.record({ id: text, name: text, arguments: args }, { noNullPrototype: true }), {
        maxLength: 2,
      }),
      toolCallId: text,
      name: text,
      isError: fc.boolean(),
      code: fc.constantFrom('over_budget', 'not_allowed'),
      kind: fc.constantFrom(...MESSAGE_KINDS),
      pins: fc.record({ system: text, tools: text }, { noNullPrototype: true }),
      compacted: fc.record({ upTo: count, shortTo: count }, { noNullPrototype: true }),
      cause: text,
      usage: fc.record(
        { model: text, inputTokens: count, outputTokens: count, cachedTokens: count, microUsd: count, ms: count },
        { requiredKeys: ['inputTokens', 'outputTokens'], noNullPrototype: true },
      ),
      files: fc.array(fc.record({ name: text, mediaType: text, blob: text, bytes: count }, { noNullPrototype: true }), {
        minLength: 1,
        maxLength: 2,
      }),
      provider: fc.record(
        { name: text, model: text, message: text, chain: text, parts: text, blob: text },
        { requiredKeys: ['name', 'model', 'message', 'chain'], noNullPrototype: true },
      ),
      from: text,
      timestamp: text.filter((stamp) => stamp !== ''),
    },
    { requiredKeys: ['role', 'content'], noNullPrototype: true },
  )
  .map(({ toolCalls, usage, provider, ...rest }) =>
    rest.role === 'assistant'
      ? { ...rest, ...(toolCalls && { toolCalls }), ...(usage && { usage }), ...(provider && { provider }) }
      : rest,
  );

const header: SessionHeader = {
  sessionId: 's-1',
  agentId: 'planner',
  created: '2026-01-01T00:00:00Z',
  status: 'active',
};

test('any value is read back the same by js-yaml and by yaml', () => {
  fc.assert(
    fc.property(args, (input) => {
      const printed = `x:${yamlValue(input, 2)}\nend: true\n`;
      const normal = JSON.parse(JSON.stringify({ x: input, end: true })) as unknown;
      assert.deepEqual(load(printed, { schema: CORE_SCHEMA }), normal, printed);
      assert.deepEqual(parse(printed), normal, printed);
    }),
    { numRuns: runs(1000) },
  );
});

test('a printed conversation is read back the same', () => {
  const headers: fc.Arbitrary<SessionHeader> = fc.record(
    {
      sessionId: text,
      agentId: text,
      agentType: text,
      model: text,
      definition: text,
      created: text,
      status: fc.constantFrom('active', 'sleeping', 'completed', 'error'),
      task: text,
    },
    { requiredKeys: ['sessionId', 'agentId', 'created', 'status'], noNullPrototype: true },
  );
  fc.assert(
    fc.property(headers, fc.array(message, { maxLength: 5 }), (input, messages) => {
      const printed = printHeader(input) + messages.map((message) => printMessages([message])).join('');
      const read = parseSession(printed, 'x.session.yaml');
      assert.ok(read.ok, `${printed}\n${JSON.stringify(read)}`);
      assert.deepStrictEqual(plain(read.session), plain({ header: input, messages }), printed);
      assert.deepEqual(parse(printed), load(printed, { schema: CORE_SCHEMA }), printed);
    }),
    { numRuns: runs(600) },
  );
});

test('a printed conversation needs no YAML parser, and an edited one is never read differently from it', () => {
  const edits = fc.array(
    fc.record({
      at: fc.nat(),
      cut: fc.nat({ max: 3 }),
      put: fc.constantFrom(
        '',
        "'",
        '"',
        '\n',
        ' ',
        '  ',
        ': ',
        '- ',
        '#',
        '|',
        '{',
        '}',
        ',',
        '&a ',
        '*a',
        '0',
        'é',
        '\t',
      ),
    }),
    { maxLength: 2 },
  );
  let quickly = 0;
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), edits, (messages, changes) => {
      let printed = printHeader(header) + printMessages(messages);
      for (const { at, cut, put } of changes) {
        const from = at % (printed.length + 1);
        printed = printed.slice(0, from) + put + printed.slice(from + cut);
      }
      const quick = loadOwnFormat(printed);
      if (quick === undefined) return;
      quickly++;
      const yaml = loadYaml(wholeFile('x', printed));
      assert.ok(yaml.ok, printed);
      assert.deepStrictEqual(quick, yaml.value, printed);
    }),
    { numRuns: runs(2000) },
  );
  assert.ok(quickly > runs(2000) / 4, `${quickly} were read`);
});

/** -0 reads back as 0, and JavaScript decides the order of number-like keys. */
function plain(session: Session): unknown {
  return JSON.parse(JSON.stringify(session)) as unknown;
}

test('a session cut at any byte of the last append keeps exactly its complete messages', () => {
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 2 }),
      fc.array(message, { minLength: 1, maxLength: 2 }),
      (early, late) => {
        const before = Buffer.from(printHeader(header) + printMessages(early));
        const ends = late.map((_, i) => before.length + Buffer.byteLength(printMessages(late.slice(0, i + 1))));
        const complete = Buffer.concat([before, Buffer.from(printMessages(late))]);
        for (let cut = before.length; cut <= complete.length; cut++) {
          checkCut(complete.subarray(0, cut).toString('utf8'), cut, early, late, ends);
        }
      },
    ),
    { numRuns: runs(40) },
  );
});

test('a tail of NUL bytes is cut like a missing one', () => {
  const late: Message[] = [
    { role: 'assistant', content: 'one\ntwo', timestamp: 't1' },
    { role: 'tool', content: 'three', toolCallId: 'c', timestamp: 't2' },
  ];
  const before = Buffer.from(printHeader(header));
  const complete = Buffer.concat([before, Buffer.from(printMessages(late))]);
  const ends = late.map((_, i) => before.length + Buffer.byteLength(printMessages(late.slice(0, i + 1))));
  for (let cut = before.length; cut < complete.length; cut++) {
    const filled = Buffer.concat([complete.subarray(0, cut), Buffer.alloc(complete.length - cut)]).toString('utf8');
    checkCut(filled, cut, [], late, ends);
    assert.equal(repairTail(filled).torn.endsWith('\0'), true);
  }
});

function checkCut(text: string, cut: number, early: Message[], late: Message[], ends: number[]): void {
  const { kept, torn } = repairTail(text);
  assert.ok(text.startsWith(kept) ? kept + torn === text : kept === `${text.slice(0, text.length - torn.length)}\n`);
  const read = parseSession(kept, 'x');
  assert.ok(read.ok, `cut at ${cut}:\n${kept}`);
  const got = plain(read.session) as { messages: Message[] };
  const all = (plain({ header, messages: [...early, ...late] }) as { messages: Message[] }).messages;
  const written = early.length + ends.filter((end) => end <= cut).length;
  assert.ok(got.messages.length >= written, `cut at ${cut} lost a message:\n${text}`);
  assert.ok(got.messages.length <= written + 1);
  got.messages.forEach((message, i) => {
    const { timestamp, ...rest } = all[i]!;
    // the last message may have its whole text and no timestamp yet
    if (i === got.messages.length - 1 && message.timestamp === undefined) assert.deepEqual(message, rest);
    else assert.deepEqual(message, timestamp === undefined ? rest : all[i]);
  });
  const more = parseSession(kept + printMessages([{ role: 'user', content: 'next' }]), 'x');
  assert.ok(
    more.ok && more.session.messages.length === got.messages.length + 1,
    `cut at ${cut}: cannot go on:\n${kept}`,
  );
}
