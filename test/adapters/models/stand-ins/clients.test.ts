/** Our clients against the stand-ins: their requests are accepted and cached where possible. */
import assert from 'node:assert/strict';
import { after } from 'node:test';
import { STAND_IN_NAMES, type StandInName } from '../../../../src/adapters/models/stand-ins/index.js';
import type { Provider } from '../../../../src/domain/config/config.js';
import type { ModelSettings } from '../../../../src/domain/agent/agent.js';
import type { Message } from '../../../../src/domain/session/session.js';
import type { ModelRequest, ToolSpec } from '../../../../src/ports/model.js';
import { standInModel } from '../../../kit/models/stand-in-model.js';
import { sampleTests } from '../../../kit/sample.js';

const test = sampleTests('adapters/models/stand-ins/clients', 4);

const SCRIPT = `
- {when: look, say: I will look., call: [{read: {path: a.md}}, {read: {path: b.md}}]}
- {say: 'Turn {{turn}}.'}
`;
const READ: ToolSpec = {
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

async function client(as: StandInName, model?: string, kind?: Provider['kind']) {
  const server = await standInModel(as, SCRIPT, { ...(model ? { model } : {}), ...(kind ? { kind } : {}) });
  open.push(server);
  return server;
}

const request = (messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'x/y',
  system: 'You are a test.',
  messages,
  tools: [READ],
  settings: {},
  agent: 'ana',
  task: 't',
  turn: 1 + messages.filter(({ role }) => role === 'assistant').length,
  ...more,
});

/**
 * Asks, answers all calls, then sends what a person adds. Ids are ten letters, like the engine's.
 */
async function converse(
  as: StandInName,
  said: string[],
  more: Partial<ModelRequest> = {},
  model?: string,
  kind?: Provider['kind'],
) {
  const server = await client(as, model, kind);
  const messages: Message[] = [];
  for (const content of said) {
    messages.push({ role: 'user', content });
    const reply = await server.call(request(messages, more));
    assert.ok(reply.ok, JSON.stringify(reply));
    const toolCalls = reply.answer.toolCalls.map((call, at) => ({ ...call, id: `id${messages.length}-${at}-letters` }));
    const { text, provider } = reply.answer;
    messages.push({
      role: 'assistant',
      content: text,
      ...(toolCalls.length > 0 ? { toolCalls } : {}),
      ...(provider ? { provider } : {}),
    });
    for (const { id } of toolCalls) messages.push({ role: 'tool', toolCallId: id, content: `text of ${id}` });
  }
  return { server, messages };
}

const SETTINGS: ModelSettings[] = [
  { temperature: 0.2, topP: 0.9, topK: 5, maxTokens: 2000 },
  { reasoning: 'none', temperature: 0.2 },
  { reasoning: 'minimal' },
  { reasoning: 'high', maxTokens: 2000 },
];
/** One model of each family. */
const MODELS: Record<StandInName, string[]> = {
  'openai-responses': ['gpt-6.1-sol', 'gpt-6-sol', 'gpt-5.2', 'gpt-5'],
  'openai-chat': ['gpt-6-sol', 'gpt-5.6-sol', 'gpt-5.2', 'gpt-5', 'gpt-4.1'],
  anthropic: [
    'claude-fable-5-1',
    'claude-opus-5-5',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-opus-5',
    'claude-opus-4-6',
    'claude-haiku-4-5',
  ],
  google: ['gemini-4-argon', 'gemini-3.8-flash', 'gemini-3.1-pro-preview', 'gemini-2.5-pro'],
  mistral: ['mistral-large-4-0', 'mistral-medium-3-5', 'mistral-small-2603'],
  deepseek: ['deepseek-flash', 'deepseek-v4-pro'],
};

for (const as of STAND_IN_NAMES)
  for (const model of MODELS[as])
    test(`${as} accepts every setting and a person's words after results (${model})`, async () => {
      for (const settings of SETTINGS) {
        await converse(as, ['look at both', 'hurry', 'look again', 'thanks'], { settings }, model);
      }
    });

for (const as of ['mistral', 'deepseek'] as const)
  for (const model of MODELS[as])
    test(`${as} at an address that a person names accepts the same (${model})`, async () => {
      for (const settings of SETTINGS) {
        const said = ['look at both', 'hurry', 'look again', 'thanks'];
        await converse(as, said, { settings }, model, 'openai-compatible');
      }
    });

test('Anthropic accepts a last turn without tools after calls', async () => {
  const { server, messages } = await converse('anthropic', ['look', 'thanks']);
  const reply = await server.call(request([...messages, { role: 'user', content: 'sum up' }], { tools: [] }));
  assert.ok(reply.ok, JSON.stringify(reply));
});

test('Anthropic caches at least 85 % of a conversation of 30 turns', async () => {
  const system = 'You are a careful assistant of a small office. '.repeat(60);
  const said = Array.from({ length: 30 }, (_, turn) =>
    turn % 3 === 0 ? `look at number ${turn}` : `Note of day ${turn}: ${'a remark about the work. '.repeat(10)}`,
  );
  const { server } = await converse('anthropic', said, { system });
  let [input, cached] = [0, 0];
  for (const reply of server.replies) {
    assert.ok(reply.ok);
    input += reply.answer.inputTokens;
    cached += reply.answer.cachedTokens;
  }
  const share = cached / input;
  assert.ok(share >= 0.85, `${cached} of ${input} tokens are cached (${(share * 100).toFixed(1)} %)`);
});

test('Anthropic caches at least 85 % with calls, notes of others and a change of date', async () => {
  const server = await client('anthropic');
  const system = 'You are a careful assistant of a small office. '.repeat(60);
  const messages: Message[] = [{ role: 'user', content: 'Today is 2026-11-17. look at the office' }];
  for (let turn = 1; turn <= 30; turn++) {
    const reply = await server.call(request(messages, { system, turn }));
    assert.ok(reply.ok, JSON.stringify(reply));
    const { text: content, toolCalls, provider } = reply.answer;
    const calls = toolCalls.map((call, at) => ({ ...call, id: `id${turn}-${at}-letters` }));
    messages.push({
      role: 'assistant',
      content,
      ...(calls.length > 0 ? { toolCalls: calls } : {}),
      ...(provider ? { provider } : {}),
    });
    for (const { id } of calls) messages.push({ role: 'tool', toolCallId: id, content: `text of ${id} `.repeat(20) });
    if (turn % 4 === 0)
      messages.push({ role: 'user', from: 'ben', kind: 'note', content: `Note from ben: ${'news '.repeat(20)}` });
    // A message gives the date, so that the beginning of the request stays the same.
    if (turn === 15) messages.push({ role: 'user', content: 'It is 2026-11-18 now.' });
    if (turn % 2 === 0) messages.push({ role: 'user', content: `look at number ${turn}` });
    else if (calls.length === 0) messages.push({ role: 'user', content: `go on with ${turn}` });
  }
  let [input, cached] = [0, 0];
  for (const reply of server.replies) {
    assert.ok(reply.ok);
    input += reply.answer.inputTokens;
    cached += reply.answer.cachedTokens;
  }
  assert.ok(cached / input >= 0.85, `${((100 * cached) / input).toFixed(1)} % of ${input} tokens are cached`);
});

test('Anthropic still finds the cache after a turn of 15 calls', async () => {
  const server = await client('anthropic');
  const system = 'You are a careful assistant of a small office. '.repeat(60);
  const toolCalls = Array.from({ length: 15 }, (_, at) => ({
    id: `c${at}`,
    name: 'read',
    arguments: { path: `${at}.md` },
  }));
  const first: Message[] = [{ role: 'user', content: 'a long question '.repeat(200) }];
  const results = toolCalls.map(({ id }): Message => ({ role: 'tool', toolCallId: id, content: 'text' }));
  await server.call(request(first, { system }));
  await server.call(request([...first, { role: 'assistant', content: '', toolCalls }, ...results], { system }));
  const [before, reply] = server.replies;
  assert.ok(before?.ok && reply?.ok, JSON.stringify(server.replies));
  assert.ok(reply.answer.cachedTokens >= before.answer.inputTokens - 10, JSON.stringify(reply.answer));
});

test('OpenAI finds the beginning of an earlier conversation of the same agent', async () => {
  const system = 'You are a careful assistant of a small office. '.repeat(200);
  const server = await client('openai-responses');
  await server.call(request([{ role: 'user', content: 'one' }], { system }));
  await server.call(request([{ role: 'user', content: 'two' }], { system, task: 'other' }));
  await server.call(request([{ role: 'user', content: 'two' }], { system, agent: 'ben' }));
  const cached = server.replies.map((reply) => (reply.ok ? reply.answer.cachedTokens : -1));
  assert.ok(cached[0] === 0 && cached[1]! >= 1024 && cached[2] === 0, String(cached));
});
