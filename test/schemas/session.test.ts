/** The reader of conversations is written by hand and more generous than the schema, never less. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { MESSAGE_KINDS, MESSAGE_ROLES, SESSION_STATUSES } from '../../src/domain/session/session.js';
import { sessionYaml } from '../../src/schemas/session.js';
import { parseSession, printHeader, printMessages } from '../../src/text/session/parse.js';
import { fc } from '../kit/properties.js';

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
const words = fc.stringMatching(/^[a-z][a-z ]{0,8}$/);

const message = fc.record({
  role: fc.constantFrom(...MESSAGE_ROLES),
  content: fc.string(),
  from: maybe(words),
  kind: maybe(fc.constantFrom(...MESSAGE_KINDS)),
  name: maybe(words),
  isError: maybe(fc.boolean()),
  toolCalls: maybe(
    fc.array(fc.record({ id: words, name: words, arguments: fc.dictionary(words, fc.jsonValue()) }), { maxLength: 2 }),
  ),
  usage: maybe(fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat() })),
  timestamp: fc.constant('2026-01-31T09:00:00.000Z'),
});
const header = fc.record({
  sessionId: words,
  agentId: words,
  created: fc.constant('2026-01-31T09:00:00.000Z'),
  status: fc.constantFrom(...SESSION_STATUSES),
  task: maybe(words),
});

test('the schema accepts every conversation that the program writes', () => {
  fc.assert(
    fc.property(header, fc.array(message, { maxLength: 3 }), (head, messages) => {
      const text = `${printHeader(head)}${printMessages(messages)}`;
      const checked = sessionYaml.safeParse(load(text));
      assert.ok(checked.success, `${text}\n${JSON.stringify(checked.error?.issues)}`);
    }),
  );
});

const value = fc.oneof(
  fc.constantFrom<unknown>('x', '', 3, true, null, '{"a": 1}', '[1]', 'tool', 'user', 'active', 'sleeping'),
  fc.constantFrom<unknown>([], {}, [{ role: 'user' }], [{ name: 'x' }], { name: 'x', arguments: '{}' }),
);
const keys = (shape: object) => fc.dictionary(fc.constantFrom(...Object.keys(shape)), value, { maxKeys: 4 });
const messageShape = { role: 0, content: 0, tool_calls: 0, usage: 0, timestamp: 0, kind: 0, is_error: 0, name: 0 };

test('the reader reads every conversation that the schema accepts', () => {
  let accepted = 0;
  fc.assert(
    fc.property(keys(sessionYaml.shape), fc.array(keys(messageShape), { maxLength: 2 }), (head, messages) => {
      const session = { agent_id: 'a', ...head, messages: messages.map((each) => ({ role: 'user', ...each })) };
      if (!sessionYaml.safeParse(session).success) return;
      accepted++;
      const read = parseSession(JSON.stringify(session), 's.session.yaml');
      assert.ok(read.ok, JSON.stringify([session, read]));
      assert.equal(read.session.messages.length, messages.length);
    }),
    { numRuns: 2000 },
  );
  assert.ok(accepted > 100, `only ${accepted} of 2000 were accepted`);
});
