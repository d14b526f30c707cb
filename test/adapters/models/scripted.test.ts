/** The scripted model chooses lines by request and reports clearly if none fits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { ModelRequest } from '../../../src/ports/model.js';
import { simClock } from '../../kit/sim-clock.js';

const user = (content: string): Message => ({ role: 'user', content });

function ask(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'scripted/a',
    system: 'You are a.',
    messages: [user('hello')],
    tools: [],
    settings: {},
    agent: 'a',
    task: 't',
    turn: 1,
    ...more,
  };
}

async function says(script: string, request: ModelRequest): Promise<string> {
  const reply = await scripted(script).call(request);
  return reply.ok ? reply.answer.text : `${reply.failure.class}: ${reply.failure.message}`;
}

test('the first line that fits answers', async () => {
  const script = `
- {agent: b, say: for b}
- {agent: [c, "d*"], say: for c or d}
- {turn: 2, say: second}
- {turn: {from: 4}, say: late}
- {task: "*.advisor-*", say: advice}
- {when: redis, say: about redis}
- {when: [/^post.*s$/i, mysql], say: about sql}
- {say: anything}
`;
  assert.equal(await says(script, ask()), 'anything');
  assert.equal(await says(script, ask({ agent: 'b' })), 'for b');
  assert.equal(await says(script, ask({ agent: 'delta' })), 'for c or d');
  assert.equal(await says(script, ask({ turn: 2 })), 'second');
  assert.equal(await says(script, ask({ turn: 3 })), 'anything');
  assert.equal(await says(script, ask({ turn: 9 })), 'late');
  assert.equal(await says(script, ask({ task: 'x.advisor-legal' })), 'advice');
  assert.equal(await says(script, ask({ messages: [user('is redis up?')] })), 'about redis');
  assert.equal(await says(script, ask({ messages: [user('Postgres')] })), 'about sql');
});

test('`when` looks at the messages since the last answer by default', async () => {
  const messages: Message[] = [
    user('the word is swordfish'),
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'c1-1', name: 'read_file', arguments: {} },
        { id: 'c1-2', name: 'wait', arguments: {} },
      ],
    },
    { role: 'tool', content: 'port 6379', toolCallId: 'c1-1' },
    { role: 'tool', content: 'ok', toolCallId: 'c1-2', name: 'wait' },
  ];
  const request = ask({ messages, turn: 2 });
  assert.match(await says('- {when: swordfish, say: x}', request), /^unscripted/);
  assert.equal(await says('- {when: {any: swordfish}, say: yes}', request), 'yes');
  assert.equal(await says('- {when: "6379", say: yes}', request), 'yes');
  assert.equal(await says('- {when: {tool: {read_file: /port (\\d+)/}}, say: "on {{1}}"}', request), 'on 6379');
  assert.match(await says('- {when: {tool: {wait: port}}, say: x}', request), /^unscripted/);
  assert.equal(await says('- {when: {tool: wait, system: You are}, say: yes}', request), 'yes');
});

test('tool calls get stable ids and filled-in arguments', async () => {
  const script =
    '- say: On it, {{agent}}.\n  call:\n    - read_file: {path: "{{last}}.md", deep: ["{{turn}}", 3]}\n    - vote_conclude';
  const [first, second] = await Promise.all([
    scripted(script).call(ask({ turn: 4 })),
    scripted(script).call(ask({ turn: 4 })),
  ]);
  assert.deepEqual(first, second);
  assert.ok(first.ok);
  assert.equal(first.answer.text, 'On it, a.');
  assert.equal(first.answer.finish, 'tool_calls');
  assert.deepEqual(first.answer.toolCalls, [
    { id: 'c4-1', name: 'read_file', arguments: { path: 'hello.md', deep: ['4', 3] } },
    { id: 'c4-2', name: 'vote_conclude', arguments: {} },
  ]);
});

test('unknown placeholders are kept', async () => {
  assert.equal(await says('- say: "{{tool_descriptions}} {{ turn }}"', ask()), '{{tool_descriptions}} 1');
});

test('streamed pieces add up to the answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, unit: 'grapheme' }), async (text) => {
      const heard: string[] = [];
      const script = JSON.stringify([{ say: text }]);
      const reply = await scripted(script).call(ask({ onText: (piece) => heard.push(piece) }));
      assert.ok(reply.ok);
      assert.equal(heard.join(''), reply.answer.text);
    }),
    { numRuns: 200 },
  );
});

test('after `times` answers, the next line answers', async () => {
  const model = scripted('- {fail: rate, times: 2, retry_after: 1.5s}\n- say: fine');
  const replies = [await model.call(ask()), await model.call(ask()), await model.call(ask())];
  assert.deepEqual(replies[0], {
    ok: false,
    failure: { class: 'rate', message: 'scripted failure (script:1)', retryAfterMs: 1500 },
  });
  assert.deepEqual(
    replies.map((reply) => reply.ok),
    [false, false, true],
  );
});

test('wait and pace use the clock, and an abort ends them', async () => {
  const clock = simClock({ auto: true });
  await scripted('- {say: one two three, wait: 1s, pace: 10ms}', clock).call(ask({ onText: () => undefined }));
  assert.equal(clock.monotonicMs(), 1030);
  const stop = new AbortController();
  const going = scripted('- {say: never, wait: 5m}').call(ask({ signal: stop.signal }));
  stop.abort();
  const reply = await going;
  assert.equal(!reply.ok && reply.failure.class, 'aborted');
});

test('usage comes from the line, or else is one token per four characters', async () => {
  const reply = await scripted('- {say: hi, usage: {input: 120, output: 30, cached: 100}}').call(ask());
  assert.ok(reply.ok);
  assert.deepEqual([reply.answer.inputTokens, reply.answer.outputTokens, reply.answer.cachedTokens], [120, 30, 100]);
  const counted = await scripted('- say: 12345678').call(ask());
  assert.ok(counted.ok);
  assert.deepEqual([counted.answer.inputTokens, counted.answer.outputTokens], [4, 2]);
});

test('if no line fits, the failure shows the request and why the nearest lines do not fit', async () => {
  const script =
    '- {agent: b, say: x}\n- {agent: a, turn: 2, say: x}\n- {agent: a, turn: 1, when: redis, say: x}\n- {agent: a, times: 1, say: x}';
  const model = scripted({ text: script, file: 'demo/script.yaml' });
  await model.call(ask());
  const reply = await model.call(ask());
  assert.ok(!reply.ok);
  assert.equal(reply.failure.class, 'unscripted');
  assert.equal(
    reply.failure.message,
    [
      'demo/script.yaml has no line for agent a, turn 1, task t, last message "hello"',
      '  demo/script.yaml:4 does not fit: it is used up in this process (times: 1)',
      '  demo/script.yaml:3 does not fit: the last messages do not contain redis',
      '  demo/script.yaml:2 does not fit: it is for turn 2',
    ].join('\n'),
  );
});

test('errors in a script are reported with their place, and no line is played', async () => {
  const cases: [string, RegExp][] = [
    ['- {agnet: a, say: x}', /^unscripted: script:1:4: unknown key "agnet"[^]*did you mean "agent"\?/],
    ['- say: x\n  turn: 0', /script:2:9: "turn" must be a number from 1/],
    ['- agent: a', /script:1:3: this line does nothing/],
    ['- {say: x, wait: 5}', /script:1:18: "wait" must be a time with a unit/],
    ['- {fail: boom}', /script:1:10: "fail" must be one of: auth, quota, rate/],
    ['- {fail: rate, call: x}', /script:1:22: .*cannot have "call"/],
    ['- {say: x, retry_after: 1s}', /script:1:25: .*only for a line with "fail"/],
    ['- {say: x, when: /(/}', /Invalid regular expression/],
    ['- {say: x, when: {lats: y}}', /script:1:19: unknown key "when.lats"/],
    ['- {say: x, say: y}', /script:1:12: .*twice/],
    ['say: x', /must be a list of lines/],
    ['- [x', /script:/],
    ['- {call: [{read_file: 7}]}', /script:1:23: .* must be a mapping of arguments/],
  ];
  for (const [script, expected] of cases) assert.match(await says(script, ask()), expected, script);
  assert.match(await says('', ask()), /the script is empty/);
});
