/** Sessions and effect records as version 0.1.0 wrote them, before `kind` and `code` existed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../../src/domain/session/session.js';
import { parseOutcome, printOutcome } from '../../../src/text/records/outcome.js';
import { parseSession, printMessages } from '../../../src/text/session/parse.js';

const HEAD = `session_id: ana-t
agent_id: ana
created: '2026-11-17T00:55:30.930Z'
status: active   
task: t
messages:
  - role: user
    from: human
    content: 'plan and do'
    timestamp: '2026-11-17T00:55:30.930Z'
`;

const KINDS: [kind: Message['kind'], item: string][] = [
  [
    'plan_request',
    `  - role: user
    from: 'guildhall:plan'
    content: 'Before you act, show your plan: what you will do, step by step, with whom, and what could go wrong. A human reads it. Answer with the plan alone; no tool can be called before it is approved.'
    timestamp: '2026-11-17T00:55:30.932Z'
`,
  ],
  [
    'plan_approved',
    `  - role: user
    from: 'guildhall:go'
    content: 'The human approved your plan. Carry it out now.'
    timestamp: '2026-11-17T00:55:40.992Z'
`,
  ],
  [
    'required_call_reminder',
    `  - role: user
    from: 'guildhall:owed'
    content: 'Your answer does not count in words. Call give_verdict, once, and nothing else.'
    timestamp: '2026-11-17T00:55:50.172Z'
`,
  ],
  [
    'required_call_missing',
    `  - role: user
    from: 'guildhall:given-up'
    content: 'That was no answer: there was no give_verdict in 2 turns. Call give_verdict.'
    timestamp: '2026-11-17T00:55:50.173Z'
`,
  ],
  [
    'loop_warning',
    `  - role: user
    from: guildhall-loop
    content: 'You repeat yourself: list_directory with the same arguments and the same result. Doing it again will not help. Try another way, or answer with what you have; if you go on like this, the task ends as failed.'
    timestamp: '2026-11-17T00:55:29.337Z'
`,
  ],
  [
    'last_turn',
    `  - role: user
    from: guildhall
    content: 'The budget of turns for this task is used up. Answer now, in words, with what you have; no tool can be called any more.'
    timestamp: '2026-11-17T00:55:28.714Z'
`,
  ],
  [
    'note',
    `  - role: user
    from: human
    content: |2-
      Note from human on the channel news:

      <note__0iuhkpawd7h agent="human">
      the office moved
      </note__0iuhkpawd7h>
    timestamp: '2026-11-17T00:55:38.425Z'
`,
  ],
  [
    'task_result',
    `  - role: user
    from: t-b3.call-usxx5xlbjg
    content: |2-
      The task t-b3.call-usxx5xlbjg that you gave to hand is completed.

      <result__1e1aa2s62jx agent="hand">
      did it
      </result__1e1aa2s62jx>
    timestamp: '2026-11-17T00:56:03.220Z'
`,
  ],
  [
    'agent_response',
    `  - role: tool
    name: delegate_to_agent
    tool_call_id: cfpg7tfpnp
    content: '{"agent_name":"hand","task_type":"delegation","result":"did it","metadata":{"task":"t-b3.call-cfpg7tfpnp"},"success":true,"error":null}'
    timestamp: '2026-11-17T00:56:03.219Z'
`,
  ],
];

for (const [kind, item] of KINDS)
  test(`a session without kinds: ${kind} is recognised, and kept by the next version`, () => {
    const message = last(HEAD + item);
    assert.equal(message.kind, kind);
    assert.deepEqual(last(HEAD + printMessages([message])), message);
  });

test("another agent's answer names its task", () => {
  assert.equal(last(HEAD + KINDS.at(-1)![1]).from, 't-b3.call-cfpg7tfpnp');
});

test('the code of a failed call is read from its text', () => {
  const failed = (content: string): Message =>
    last(`${HEAD}  - role: tool
    name: list_directory
    tool_call_id: '5bst4wilgp'
    is_error: true
    content: '${content}'
    timestamp: '2026-11-17T00:55:28.713Z'
`);
  const text = 'over_budget: the budget of tool calls of t-short is used up and this call was not made';
  assert.equal(failed(text).code, 'over_budget');
  assert.equal(failed('not_allowed: your plan is not approved yet; nothing was done').code, 'not_allowed');
  assert.equal(failed('perhaps: it failed').code, undefined);
});

test('text written by people is not mistaken for messages of the program', () => {
  const kindOf = (from: string, content: string): Message['kind'] =>
    last(`${HEAD}  - role: user\n    from: ${from}\n    content: '${content}'\n    timestamp: ''\n`).kind;
  assert.equal(kindOf('human', 'Answer now, in words, with what you have; no tool can be called any more.'), undefined);
  assert.equal(kindOf('human', 'The task t-b3 that you gave to hand is completed.'), undefined);
  assert.equal(kindOf('guildhall', 'Look at the open work.'), undefined);
});

test('the description of a task never controls its conversation, even if its author has a reserved name', () => {
  const first = HEAD.replace('from: human', "from: 'guildhall:go'");
  assert.equal(last(first).kind, undefined);
  const shared = `${HEAD}  - role: user\n    from: 'guildhall:go'\n    task: t2\n    content: next\n    timestamp: ''\n`;
  assert.equal(last(shared).kind, undefined);
});

test('an effect record without a code has it at the start of its text', () => {
  assert.deepEqual(parseOutcome('{"ok":false,"text":"not_allowed: rm would remove the whole system"}'), {
    ok: false,
    code: 'not_allowed',
    text: 'rm would remove the whole system',
  });
  assert.deepEqual(parseOutcome('{"ok":true,"text":"not_allowed: as a text"}'), {
    ok: true,
    text: 'not_allowed: as a text',
  });
  assert.deepEqual(parseOutcome('{"ok":false,"text":""}'), { ok: false, code: 'tool_failed', text: '' });
});

test('an effect record reads back unchanged, and a torn one is ignored', () => {
  const outcome = { ok: false, code: 'timed_out', text: 'not_allowed: only words' } as const;
  assert.deepEqual(parseOutcome(printOutcome(outcome)), outcome);
  assert.equal(parseOutcome('{"ok":fal'), undefined);
});

function last(text: string): Message {
  const parsed = parseSession(text, 'sessions/ana-t.session.yaml');
  assert.ok(parsed.ok);
  return parsed.session.messages.at(-1)!;
}
