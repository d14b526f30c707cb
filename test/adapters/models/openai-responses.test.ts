/** OpenAI's Responses API, with its host replaced by a local server. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { callSdk } from '../../../src/adapters/models/ai-sdk/call-sdk.js';
import { thoughtBook } from '../../../src/adapters/models/ai-sdk/prompt/thoughts.js';
import { promptWriter } from '../../../src/adapters/models/ai-sdk/prompt/prompt.js';
import { httpFetch } from '../../../src/adapters/models/ai-sdk/http-fetch.js';
import { keepAliveHttp } from '../../../src/adapters/models/ai-sdk/http.js';
import { createModel } from '../../../src/adapters/models/ai-sdk/create-model.js';
import { endpointOf } from '../../../src/adapters/models/ai-sdk/endpoint.js';
import type { ModelRequest } from '../../../src/ports/model.js';
import { rawServer, sse } from '../../kit/raw-server.js';

const message = (status: string, text: string) => ({
  type: 'message',
  id: 'msg_1',
  status,
  role: 'assistant',
  content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
});
const called = (status: string, args: string) => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'read',
  status,
  arguments: args,
});
const response = (status: string, more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'gpt-5',
  output: [],
  error: null,
  incomplete_details: null,
  ...more,
});
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 120,
};

const EVENTS = [
  { type: 'response.created', response: response('in_progress') },
  { type: 'response.output_item.added', output_index: 0, item: message('in_progress', '') },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'Let me ' },
  { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'look.' },
  { type: 'response.output_item.done', output_index: 0, item: message('completed', 'Let me look.') },
  { type: 'response.output_item.added', output_index: 1, item: called('in_progress', '') },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"path":"a.md"}' },
  { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 1, arguments: '{"path":"a.md"}' },
  { type: 'response.output_item.done', output_index: 1, item: called('completed', '{"path":"a.md"}') },
  { type: 'response.completed', response: response('completed', { usage }) },
];

async function ask(events: object[]) {
  const server = await rawServer(
    (reply) => void sse(reply).end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
  );
  after(() => server.close());
  const local = httpFetch(keepAliveHttp({ stallMs: 120_000 }));
  const elsewhere: typeof fetch = (url, init) => local(server.url + new URL(String(url)).pathname, init);
  const site = endpointOf({ kind: 'openai' }, { OPENAI_API_KEY: 'k' });
  const model = await createModel('gpt-5', { kind: 'openai' }, site, elsewhere);
  const request: ModelRequest = {
    model: 'openai/gpt-5',
    system: 'You are a test.',
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'call_0', name: 'read', arguments: { path: 'b' } }] },
      { role: 'tool', content: 'text of b', toolCallId: 'call_0' },
    ],
    tools: [
      { name: 'read', description: 'Reads.', parameters: { type: 'object', properties: { path: { type: 'string' } } } },
    ],
    settings: {},
    agent: 'a',
    task: 't',
    turn: 2,
  };
  const asked = { provider: 'openai', model: 'gpt-5', agent: 'a', address: site.address, now: new Date() };
  const reply = await callSdk(
    { model, provider: { kind: 'openai' }, prompts: promptWriter() },
    request,
    asked,
    new AbortController().signal,
    { thoughts: await thoughtBook().of(request, { provider: 'openai', model: 'gpt-5' }), media: undefined },
  );
  return { reply, sent: server.requests[0]! };
}

test('a conversation with tools works over the Responses API', async () => {
  const { reply, sent } = await ask(EVENTS);
  assert.ok(reply.ok, JSON.stringify(reply));
  assert.equal(reply.answer.text, 'Let me look.');
  assert.deepEqual(reply.answer.toolCalls, [{ id: 'call_1', name: 'read', arguments: { path: 'a.md' } }]);
  assert.equal(reply.answer.finish, 'tool_calls');
  assert.deepEqual([reply.answer.inputTokens, reply.answer.cachedTokens, reply.answer.outputTokens], [100, 40, 20]);
  assert.match(sent.url, /\/responses$/);
  const kinds = sent.body.input.map((item: { type?: string; role?: string }) => item.type ?? item.role);
  assert.deepEqual(kinds.slice(1), ['user', 'function_call', 'function_call_output']);
});

test('a response that ends early does not count', async () => {
  const { reply } = await ask(EVENTS.slice(0, 4));
  assert.ok(!reply.ok);
  assert.equal(reply.failure.class, 'cut_off');
});
