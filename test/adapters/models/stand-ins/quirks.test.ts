/** Behaviour of real servers that contradicts their documentation, and how our clients take it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quirksOf, type StandInName } from '../../../../src/adapters/models/stand-ins/index.js';
import type { ModelReply } from '../../../../src/ports/model.js';
import { standInModel } from '../../../kit/models/stand-in-model.js';

const SCRIPT = String.raw`
- {when: look, say: I will look., call: [{read: {path: "a\nb.md"}}, {read: {path: c.md}}]}
- {say: Hello there.}
`;

async function ask(as: StandInName, quirk: string, content: string): Promise<{ reply: ModelReply; heard: string }> {
  // Only servers at addresses that people name have quirks.
  const isChat = as === 'mistral' || as === 'deepseek';
  const model = await standInModel(as, SCRIPT, { quirk, ...(isChat ? { kind: 'openai-compatible' as const } : {}) });
  let heard = '';
  const parameters = { type: 'object' as const, properties: { path: { type: 'string' as const } } };
  const reply = await model.call({
    model: 'x/y',
    system: 'You are a test.',
    messages: [{ role: 'user', content }],
    tools: [{ name: 'read', description: 'Reads.', parameters }],
    settings: {},
    agent: 'ana',
    task: 't',
    turn: 1,
    onText: (text) => (heard += text),
  });
  await model.close();
  return { reply, heard };
}

/** The failure's class, or the answer in short: its finish, text and paths. */
function short(reply: ModelReply): string {
  if (!reply.ok) return reply.failure.class;
  const { finish, text, toolCalls } = reply.answer;
  return [finish, text, ...toolCalls.map(({ arguments: { path } }) => String(path))]
    .filter((part) => part !== '')
    .join('|');
}

const TEXT = 'stop|Hello there.';
const BOTH = 'tool_calls|I will look.|a\nb.md|c.md';
const CALLS = 'tool_calls|a\nb.md|c.md';

/** By quirk: the outcome of an answer in words, and of one with two calls. */
const CHAT: Record<string, [string, string]> = {
  'json-body': [TEXT, BOTH],
  'error-in-200': ['unreachable', 'unreachable'],
  'error-in-stream': ['unreachable', 'unreachable'],
  'bare-error-in-stream': ['unreachable', 'unreachable'],
  'done-without-finish': [TEXT, BOTH],
  'empty-finish': [TEXT, BOTH],
  'no-end': ['cut_off', 'cut_off'],
  'finish-insufficient-system-resource': ['cut_off', 'cut_off'],
  'finish-abort': ['cut_off', 'cut_off'],
  'finish-error': ['cut_off', 'cut_off'],
  'finish-network-error': ['cut_off', 'cut_off'],
  'finish-sensitive': ['refused', 'refused'],
  'finish-model-length': ['length|Hello there.', 'length|I will look.|a\nb.md|c.md'],
  'think-block': [TEXT, BOTH],
  'trailing-comma': [TEXT, CALLS],
  'double-encoded': [TEXT, CALLS],
  'raw-newline': [TEXT, CALLS],
  'null-arguments': [TEXT, 'tool_calls|undefined|undefined'],
  'fenced-arguments': [TEXT, CALLS],
  'same-index': [TEXT, CALLS],
  'function-call': [TEXT, 'tool_calls|a\nb.md'],
  'second-choice': [TEXT, BOTH],
  'usage-in-choice': [TEXT, BOTH],
  'azure-first-chunk': [TEXT, BOTH],
};
const EXPECTED: Partial<Record<StandInName, Record<string, [string, string]>>> = {
  'openai-chat': CHAT,
  mistral: CHAT,
  deepseek: CHAT,
  anthropic: {
    'overloaded-in-stream': ['unreachable', 'unreachable'],
    'no-end': ['cut_off', 'cut_off'],
    refusal: ['refused', 'refused'],
    'pause-turn': ['cut_off', 'cut_off'],
    'window-exceeded': ['length|Hello there.', 'length|I will look.'],
    pings: [TEXT, BOTH],
  },
  google: {
    'blocked-prompt': ['refused', 'refused'],
    'malformed-call': ['cut_off', 'cut_off'],
    'unexpected-call': ['garbage', 'garbage'],
    'no-end': ['cut_off', 'cut_off'],
    recitation: ['refused', 'refused'],
    'error-in-stream': ['unreachable', 'unreachable'],
  },
  'openai-responses': {
    'no-end': ['cut_off', 'cut_off'],
    'error-event': ['unreachable', 'unreachable'],
    failed: ['rate', 'rate'],
    incomplete: ['length|Hello there.', 'length|I will look.'],
    filtered: ['refused', 'refused'],
  },
};

for (const [as, quirks] of Object.entries(EXPECTED) as [StandInName, Record<string, [string, string]>][]) {
  test(`${as}: every quirk has an expectation`, async () => {
    assert.deepEqual(Object.keys(await quirksOf(as)).sort(), Object.keys(quirks).sort());
  });
  for (const [quirk, [words, calls]] of Object.entries(quirks))
    test(`${as} with ${quirk}`, async () => {
      assert.equal(short((await ask(as, quirk, 'hello')).reply), words);
      assert.equal(short((await ask(as, quirk, 'look')).reply), calls);
    });
}

test('thoughts in the text are never shown', async () => {
  assert.equal((await ask('openai-chat', 'think-block', 'hello')).heard, 'Hello there.');
});

test('usage inside the choice counts, with its cached tokens', async () => {
  const { reply } = await ask('openai-chat', 'usage-in-choice', 'hello');
  assert.ok(reply.ok);
  assert.deepEqual([reply.answer.inputTokens, reply.answer.cachedTokens], [100, 64]);
});

test('a failure says what the server said', async () => {
  const message = async (quirk: string) => {
    const { reply } = await ask('openai-chat', quirk, 'hello');
    return reply.ok ? '' : reply.failure.message;
  };
  assert.match(await message('error-in-200'), /Provider returned error/);
  assert.match(await message('bare-error-in-stream'), /ran out of memory/);
  assert.match(await message('finish-abort'), /abort/);
});
