/**
 * Readers return a value in linear time for any content: an exception would stop the whole pass.
 */
import { test } from 'node:test';
import { fc, runs } from '../kit/properties.js';
import { sampleOf } from '../kit/sample.js';
import { parseAgent } from '../../src/text/agent/parse.js';
import { parseConfig } from '../../src/text/config/config.js';
import { parseJson } from '../../src/text/lines/json.js';
import { makeAppendable, parseSession, statusSpan } from '../../src/text/session/parse.js';
import { repairTail } from '../../src/text/session/tail.js';
import { parseTask } from '../../src/text/records/task.js';
import { inLinearTime } from '../kit/linear.js';
import { FOREIGN_AGENTS } from './agent/foreign-agents.js';

const FILES = ['agents/a.md', '.claude/agents/a.md', 'a.ai', 'agents/a.agent.yaml', 'x.agent.md'];

function readAll(text: string): void {
  parseTask(Buffer.from(text), { file: 'x.json', name: 'x', now: 'now' });
  parseJson(text, 'x.json');
  const session = parseSession(text, 'x');
  if (session.ok) makeAppendable(text, session.session.messages);
  repairTail(text);
  statusSpan(text);
  parseConfig(text, 'guild.yaml');
  for (const file of FILES) parseAgent(text, { file, definition: 'd' });
}

const PIECES = [
  ...[
    '---\n',
    'name: ',
    'tools: ',
    'messages:\n',
    '  - ',
    '- ',
    'role: user\n',
    '\n',
    ' ',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '"',
    "'",
    '|',
    '>',
  ],
  ...[
    '&a ',
    '*a',
    '!!x ',
    '<<: ',
    '#',
    '%',
    '\t',
    '\\',
    '\u0000',
    '\u2028',
    '\ud800',
    'router: true\n',
    'team: ',
    'budget: {',
    'null',
    '1',
    '~',
  ],
  ...[
    '{"description": ',
    '```\n',
    '# System Prompt\n',
    '__proto__: ',
    'constructor: ',
    '<<<<<<< a\n',
    '=======\n',
    '...\n',
    '? ',
    '\r\n',
  ],
];

test('no text makes any reader throw', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 5 })), { maxLength: 25 }),
      (pieces) => readAll(pieces.join('')),
    ),
    { numRuns: runs(800) },
  );
});

test('no damage to a good file makes any reader throw', () => {
  const good = fc.constantFrom(...Object.values(FOREIGN_AGENTS));
  fc.assert(
    fc.property(good, fc.nat(600), fc.nat(30), fc.constantFrom('', ...PIECES), (text, at, length, piece) =>
      readAll(text.slice(0, at) + piece + text.slice(at + length)),
    ),
    { numRuns: runs(500) },
  );
});

const LONG = 200_000;
const long: [string, string][] = [
  ['spaces', ' '.repeat(LONG)],
  ['line breaks and a letter', `${'\n'.repeat(LONG)}x`],
  ['spaces, breaks and a letter', `${' \n'.repeat(LONG / 2)}x:`],
  ['opening brackets', '['.repeat(LONG)],
  ['opening braces', '{"a":'.repeat(LONG / 5)],
  ['opening parentheses', `---\ntools: ${'('.repeat(LONG)}\n---\n`],
  ['commas', `---\ntools: ${','.repeat(LONG)}\n---\n`],
  ['a string of quotes', `"${'\\"'.repeat(LONG / 2)}`],
  ['a long string and a fault', `{"a": "${'x'.repeat(LONG)}" "b"}`],
  ['a long string of escapes and a fault', `{"a": "${'\\n'.repeat(LONG / 2)}" "b"}`],
  ['a heading that does not end', `---\n---\n# system prompt${' #'.repeat(LONG / 2)}x`],
  ['fences', '```\n'.repeat(LONG / 4)],
  ['dashes', '---\n'.repeat(LONG / 4)],
  ['items', `messages:\n${'  - \n'.repeat(LONG / 5)}`],
  ['items without end', `messages:\n${'  -'.repeat(LONG / 3)}`],
  ['keys', Array.from({ length: LONG / 10 }, (_, i) => `k${i}: 1`).join('\n')],
  ['tools', `---\ntools: [${'a, '.repeat(LONG / 4)}]\n---\n`],
  ['conflict marks', '<<<<<<< \n'.repeat(LONG / 10)],
  ['invisible characters', '\u200b'.repeat(LONG)],
];
for (const [what, text] of sampleOf('hostile', long, 3)) {
  test(`hostile input is read in linear time: ${what}`, () => {
    inLinearTime(what, () => readAll(text));
  });
}
