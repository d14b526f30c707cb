/** Session files are read tolerantly and appended to safely. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemText } from '../../../src/domain/problem.js';
import {
  appendPlace,
  makeAppendable,
  parseSession,
  printHeader,
  printMessages,
  printStatus,
  statusSpan,
} from '../../../src/text/session/parse.js';
import { repairTail } from '../../../src/text/session/tail.js';

const read = (text: string) => {
  const parsed = parseSession(text, 'sessions/planner-1.session.yaml');
  assert.ok(parsed.ok, parsed.ok ? '' : problemText(parsed.problem));
  return parsed.session;
};
const fault = (text: string) => {
  const parsed = parseSession(text, 's.yaml');
  assert.ok(!parsed.ok);
  return parsed.problem;
};
const HEAD = 'agent_id: planner\nmessages:\n';

const OTHER = `session_id: planner-001-abc123
agent_id: planner-001
agent_type: planner
model: claude-sonnet-4.5
system_prompt: |
  You are a task planning agent...
  - with a list in its prompt
created: '2025-10-04T10:00:00Z'
updated: '2025-10-04T10:05:00Z'
status: active
messages:
  - timestamp: '2025-10-04T10:05:23.000Z'
    role: user
    content: 'A message arrived from Slack: "Can you check if Redis is running?"'
  - timestamp: '2025-10-04T10:05:45.000Z'
    role: assistant
    content: |
      I will break this down into steps...
    tool_calls:
      - id: call_123
        type: function
        function:
          name: create_task
          arguments:
            file: tasks/redis-check.task.md
            content: '...'
  - timestamp: '2025-10-04T10:05:47.000Z'
    role: tool_result
    name: create_task
    content:
      success: true
    tool_call_id: call_123
metadata: {}
`;

test('a session of another program is read, with other key order, role names and content forms', () => {
  const { header, messages } = read(OTHER);
  assert.deepEqual(header, {
    sessionId: 'planner-001-abc123',
    agentId: 'planner-001',
    agentType: 'planner',
    model: 'claude-sonnet-4.5',
    created: '2025-10-04T10:00:00Z',
    status: 'active',
  });
  assert.deepEqual(messages[1]!.toolCalls, [
    { id: 'call_123', name: 'create_task', arguments: { file: 'tasks/redis-check.task.md', content: '...' } },
  ]);
  assert.deepEqual(messages[2], {
    role: 'tool',
    name: 'create_task',
    toolCallId: 'call_123',
    content: '{"success":true}',
    timestamp: '2025-10-04T10:05:47.000Z',
  });
});

test('a message needs only a role and a text', () => {
  const { header, messages } = read(
    `${HEAD}  - role: user\n    content: Go on\n  - {role: user, content: 42}\n  - role: assistant\n`,
  );
  assert.equal(header.sessionId, 'planner-1');
  assert.deepEqual(messages, [
    { role: 'user', content: 'Go on' },
    { role: 'user', content: '42' },
    { role: 'assistant', content: '' },
  ]);
});

test('every form of an empty message list is read', () => {
  for (const none of ['messages:\n', 'messages: []\n', 'messages: null\n', ''])
    assert.deepEqual(read(`agent_id: a\n${none}`).messages, []);
});

test('arguments may be JSON text', () => {
  const call = `${HEAD}  - role: assistant\n    tool_calls:\n      - {id: c, function: {name: read_file, arguments: '{"path": "a"}'}}\n`;
  assert.deepEqual(read(call).messages[0]!.toolCalls, [{ id: 'c', name: 'read_file', arguments: { path: 'a' } }]);
});

const faults: [string, string, RegExp, string][] = [
  ['a syntax error', `${HEAD}  - role: user\n    content: "open\n`, /./, '5:1'],
  ['a repeated key', `${HEAD}  - role: user\n    role: user\n`, /twice/, '4:5'],
  ['an unknown role', `${HEAD}  - role: user\n  - role: usr\n`, /unknown role "usr"/, '4:11'],
  ['a message that is not a mapping', `${HEAD}  - hello\n`, /a message is a mapping/, '3:5'],
  ['a custom tag', `${HEAD}  - role: !!js/function x\n`, /tag/, '3:11'],
  ['tool calls that are not a list', `${HEAD}  - role: assistant\n    tool_calls: none\n`, /must be a list/, '4:17'],
  ['a merge conflict', `${HEAD}<<<<<<< HEAD\n  - role: user\n=======\n>>>>>>> x\n`, /conflict/, '3:1'],
];
for (const [what, text, message, place] of faults) {
  test(`${what} is reported with its place`, () => {
    const problem = fault(text);
    assert.match(problem.message, message);
    assert.equal(`${problem.where?.line}:${problem.where?.column}`, place);
    assert.match(problemText(problem), /\^/);
  });
}

test('an alias bomb is refused, and a self-referencing value does no harm', () => {
  const rows = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}]`);
  assert.equal(fault(`a0: &a0 x\n${rows.join('\n')}\nagent_id: a\n`).code, 'over_limit');
  assert.equal(read(`${HEAD}  - role: user\n    content: &x [*x]\n`).messages.length, 1);
});

test('names of object properties are ordinary keys', () => {
  const { messages } = read(
    `${HEAD}  - role: assistant\n    <<: {content: merged}\n    __proto__: {name: polluted}\n    tool_calls:\n      - {id: c, name: t, arguments: {__proto__: {x: 1}}}\n`,
  );
  assert.equal(messages[0]!.content, '');
  assert.equal(messages[0]!.name, undefined);
  assert.equal((messages[0]!.toolCalls![0]!.arguments as { x?: number }).x, undefined);
});

test('the status can be overwritten in place', () => {
  const text = `${printHeader({ sessionId: 'ü', agentId: 'a', created: 'x', status: 'active' })}${printMessages([{ role: 'user', content: 'status: sleeping ' }])}`;
  const span = statusSpan(text)!;
  const bytes = Buffer.from(text);
  assert.equal(bytes.subarray(span.offset, span.offset + span.length).toString(), 'active   ');
  bytes.write(printStatus('completed'), span.offset);
  assert.equal(read(bytes.toString()).header.status, 'completed');
  assert.equal(statusSpan('status: active\nmessages:\n'), undefined);
});

test('a message added by hand without a timestamp is not a torn end', () => {
  for (const added of [
    '  - role: user\n    content: Go on\n',
    '  - role: user\n    content: |\n      Go\n      on',
    '  - role: system\n    content: "x"\n',
  ]) {
    const text = HEAD + printMessages([{ role: 'assistant', content: 'a', timestamp: 't' }]) + added;
    assert.equal(repairTail(text).torn, '');
    assert.equal(read(repairTail(text).kept).messages.length, 2);
  }
});

test('nothing is cut off from a file without messages, or without ours at its end', () => {
  for (const text of ['agent_id: a\n', HEAD, 'agent_id: a\nmessages: []\n', OTHER])
    assert.deepEqual(repairTail(text), { kept: text, torn: '' });
});

test('the reader says whether text can be appended', () => {
  assert.deepEqual(appendPlace(HEAD), { indent: 2, before: '' });
  assert.deepEqual(appendPlace('agent_id: a\nmessages:\n- role: user\n  content: x'), { indent: 0, before: '\n' });
  assert.equal(appendPlace(OTHER), undefined);
  assert.equal(appendPlace('agent_id: a\nmessages: []\n'), undefined);
  const flat = 'agent_id: a\nmessages:\n- role: user\n  content: x\n';
  assert.equal(
    read(flat + printMessages([{ role: 'assistant', content: 'a\nb', timestamp: 't' }], 0)).messages.length,
    2,
  );
});

test('a file that cannot be appended to is rearranged, and only the list moves', () => {
  const reshaped = makeAppendable(OTHER, read(OTHER).messages);
  assert.deepEqual(read(reshaped), read(OTHER));
  assert.deepEqual(reshaped.split('\n').sort(), OTHER.split('\n').sort());
  assert.deepEqual(appendPlace(reshaped), { indent: 2, before: '' });
  const flow = '# mine\nagent_id: a\nmessages: [{role: user, content: "x\\ny"}]\nupdated: x';
  for (const text of [
    flow,
    'agent_id: a\nmessages: []\n',
    'agent_id: a\n',
    'agent_id: a\nmessages: # none yet\nx: 1\n',
  ]) {
    const grown = makeAppendable(text, read(text).messages);
    assert.deepEqual(read(grown), read(text));
    assert.ok(appendPlace(grown), grown);
    assert.equal(
      read(grown + printMessages([{ role: 'user', content: 'more' }])).messages.length,
      read(text).messages.length + 1,
    );
  }
  assert.match(makeAppendable(flow, read(flow).messages), /^# mine\n/);
});
