/**
 * Vendors through their own packages, over HTTP against servers that speak as the vendors document
 * it: the request goes to the right place, and the answer comes back with what must be sent again.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { fromUtf8, toUtf8 } from '@smithy/util-utf8';
import { aiSdk } from '../../../src/adapters/models/ai-sdk/index.js';
import type { Provider } from '../../../src/domain/config/config.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { ModelAnswer, ModelRequest } from '../../../src/ports/model.js';
import { rawServer, sse } from '../../kit/raw-server.js';

type Body = Parameters<typeof rawServer>[0];

async function vendor(kind: Provider['kind'], env: Record<string, string>, path: string, reply: Body) {
  const server = await rawServer(reply);
  after(() => server.close());
  const baseUrl = server.url.replace(/\/v1$/, path);
  const model = aiSdk({
    config: {
      providers: { there: { kind, baseUrl } },
      prices: {},
      timeouts: { callMs: 30_000, stallMs: 10_000, tries: 1 },
    },
    env,
    clock: { now: () => new Date('2026-11-17T00:00:00Z') },
  });
  const messages: Message[] = [{ role: 'user', content: 'Look at a.md.' }];
  const ask = async (id: string, more: Partial<ModelRequest> = {}): Promise<ModelAnswer> => {
    const reply = await model.call({
      model: `there/${id}`,
      system: 'You are a test.',
      messages,
      tools: [
        {
          name: 'read',
          description: 'Reads.',
          parameters: { type: 'object', properties: { path: { type: 'string' } } },
        },
      ],
      settings: { temperature: 0.2, maxTokens: 2000 },
      agent: 'ana',
      task: 't',
      turn: 1,
      ...more,
    });
    assert.ok(reply.ok, JSON.stringify(reply));
    const { text, toolCalls, provider } = reply.answer;
    messages.push({
      role: 'assistant',
      content: text,
      toolCalls: toolCalls.map((call) => ({ ...call, id: 'abcdefghij' })),
      ...(provider ? { provider } : {}),
    });
    messages.push({ role: 'tool', toolCallId: 'abcdefghij', content: 'text of a' });
    return reply.answer;
  };
  return { ask, requests: server.requests };
}

const CALL = [{ name: 'read', arguments: { path: 'a.md' } }];
const named = (answer: ModelAnswer) => answer.toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args }));

function events(list: unknown[]): Body {
  return (response) =>
    void sse(response).end(
      list.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
    );
}

test('OpenRouter: reasoning details come back unchanged and in order', async () => {
  const details = [
    { type: 'reasoning.text', text: 'Weighing ', signature: null, format: 'anthropic-claude-v1', index: 0 },
    { type: 'reasoning.text', text: 'it.', signature: 'sig-1', format: 'anthropic-claude-v1', index: 0 },
  ];
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'gen-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'anthropic/claude-opus-5.5',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const call = { index: 0, id: 'toolu_1', type: 'function', function: { name: 'read', arguments: '{"path":"a.md"}' } };
  const { ask, requests } = await vendor(
    'openrouter',
    { OPENROUTER_API_KEY: 'k' },
    '/api/v1',
    events([
      chunk({ role: 'assistant', content: '', reasoning: 'Weighing ', reasoning_details: [details[0]] }),
      chunk({ content: '', reasoning: 'it.', reasoning_details: [details[1]] }),
      chunk({ content: null, tool_calls: [call] }),
      chunk({}, 'tool_calls'),
      { ...chunk({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } },
      '[DONE]',
    ]),
  );
  assert.deepEqual(named(await ask('anthropic/claude-opus-5-5')), CALL);
  await ask('anthropic/claude-opus-5-5');
  const [first, second] = requests;
  assert.equal(first!.url, '/api/v1/chat/completions');
  assert.equal(first!.headers.authorization, 'Bearer k');
  assert.equal(first!.body.temperature, undefined, 'the model decides, not the vendor');
  const answer = second!.body.messages.find(({ role }: { role: string }) => role === 'assistant');
  const sent = answer.reasoning_details.map(({ text }: { text: string }) => text).join('');
  assert.equal(sent, 'Weighing it.');
  assert.ok(JSON.stringify(answer.reasoning_details).includes('sig-1'));
});

test('Azure: the deployment is the model, and reasoning items come back encrypted', async () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read' };
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'sealed' };
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'gpt-6-sol', output: [] };
  const { ask, requests } = await vendor(
    'azure',
    { AZURE_API_KEY: 'k' },
    '/openai/v1',
    events([
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
      {
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { ...thought, encrypted_content: '' },
      },
      { type: 'response.output_item.done', sequence_number: 2, output_index: 0, item: thought },
      {
        type: 'response.output_item.added',
        sequence_number: 3,
        output_index: 1,
        item: { ...item, arguments: '', status: 'in_progress' },
      },
      {
        type: 'response.function_call_arguments.delta',
        sequence_number: 4,
        item_id: 'fc_1',
        output_index: 1,
        delta: '{"path":"a.md"}',
      },
      {
        type: 'response.output_item.done',
        sequence_number: 5,
        output_index: 1,
        item: { ...item, arguments: '{"path":"a.md"}', status: 'completed' },
      },
      {
        type: 'response.completed',
        sequence_number: 6,
        response: { ...response, status: 'completed', usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 } },
      },
    ]),
  );
  assert.deepEqual(named(await ask('gpt-6-sol')), CALL);
  await ask('gpt-6-sol');
  const [first, second] = requests;
  assert.match(first!.url, /^\/openai\/v1\/responses/);
  assert.equal(first!.headers['api-key'], 'k');
  assert.deepEqual([first!.body.model, first!.body.store], ['gpt-6-sol', false]);
  const back = second!.body.input.find(({ type }: { type?: string }) => type === 'reasoning');
  assert.equal(back?.encrypted_content, 'sealed', JSON.stringify(second!.body.input));
});

test('Bedrock: signed thoughts go back, marks are cache points, and tools stay defined', async () => {
  const codec = new EventStreamCodec(toUtf8, fromUtf8);
  const frame = (type: string, body: object) =>
    codec.encode({
      headers: {
        ':event-type': { type: 'string', value: type },
        ':content-type': { type: 'string', value: 'application/json' },
        ':message-type': { type: 'string', value: 'event' },
      },
      body: Buffer.from(JSON.stringify(body)),
    });
  const frames = [
    frame('messageStart', { role: 'assistant' }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Weighing.' } } }),
    frame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent: { signature: 'sig-1' } } }),
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'tooluse_1', name: 'read' } } }),
    frame('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"path":"a.md"}' } } }),
    frame('contentBlockStop', { contentBlockIndex: 1 }),
    frame('messageStop', { stopReason: 'tool_use' }),
    frame('metadata', { usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 } }),
  ];
  const { ask, requests } = await vendor(
    'bedrock',
    { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'eu-central-1' },
    '',
    (response) =>
      void response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' }).end(Buffer.concat(frames)),
  );
  const id = 'eu.anthropic.claude-opus-5-5-v1:0';
  assert.deepEqual(named(await ask(id)), CALL);
  await ask(id);
  await ask(id, { tools: [] });
  const [first, second, last] = requests;
  assert.equal(decodeURIComponent(first!.url), `/model/${id}/converse-stream`);
  assert.equal(first!.headers.authorization, 'Bearer k');
  assert.equal(first!.body.inferenceConfig?.temperature, undefined);
  assert.ok(JSON.stringify(first!.body.system).includes('cachePoint'), JSON.stringify(first!.body.system));
  const answer = JSON.stringify(second!.body.messages[1]);
  assert.ok(answer.includes('sig-1') && answer.includes('Weighing.'), answer);
  assert.ok(last!.body.toolConfig.tools.length > 0, 'Bedrock refuses calls without tools');
});

test('Vertex: Gemini by its own path, with its thought signatures', async () => {
  const part = { functionCall: { name: 'read', args: { path: 'a.md' } }, thoughtSignature: 'sig-1' };
  const { ask, requests } = await vendor(
    'vertex',
    { GOOGLE_VERTEX_API_KEY: 'k' },
    '/v1/publishers/google',
    events([
      {
        candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
      },
    ]),
  );
  assert.deepEqual(named(await ask('gemini-4-argon')), CALL);
  await ask('gemini-4-argon');
  const [first, second] = requests;
  assert.match(first!.url, /\/v1\/publishers\/google\/models\/gemini-4-argon:streamGenerateContent/);
  assert.equal(first!.headers['x-goog-api-key'], 'k');
  assert.equal(second!.body.contents[1].parts.find(({ functionCall }: any) => functionCall)?.thoughtSignature, 'sig-1');
});

test('Groq: thoughts go back as reasoning of the message', async () => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'openai/gpt-oss-120b',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a.md"}' } };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const { ask, requests } = await vendor(
    'groq',
    { GROQ_API_KEY: 'k' },
    '/openai/v1',
    events([
      chunk({ role: 'assistant', content: null, reasoning: 'Weighing it.' }),
      chunk({ tool_calls: [call] }),
      { ...chunk({}, 'tool_calls'), x_groq: { id: 'req_1', usage } },
      '[DONE]',
    ]),
  );
  const answer = await ask('openai/gpt-oss-120b');
  assert.deepEqual([named(answer), answer.inputTokens, answer.outputTokens], [CALL, 10, 5]);
  await ask('openai/gpt-oss-120b');
  const [first, second] = requests;
  assert.equal(first!.url, '/openai/v1/chat/completions');
  assert.equal(first!.headers.authorization, 'Bearer k');
  const sent = second!.body.messages.find(({ role }: { role: string }) => role === 'assistant');
  assert.equal(sent.reasoning, 'Weighing it.');
});

test('xAI: nothing is stored there, so encrypted thoughts go back', async () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read', arguments: '{"path":"a.md"}' };
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], status: 'completed', encrypted_content: 'sealed' };
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'grok-4.5', output: [] };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const { ask, requests } = await vendor(
    'xai',
    { XAI_API_KEY: 'k' },
    '/v1',
    events([
      { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
      { type: 'response.output_item.done', sequence_number: 1, output_index: 0, item: thought },
      {
        type: 'response.output_item.added',
        sequence_number: 2,
        output_index: 1,
        item: { ...item, status: 'completed' },
      },
      {
        type: 'response.output_item.done',
        sequence_number: 3,
        output_index: 1,
        item: { ...item, status: 'completed' },
      },
      { type: 'response.completed', sequence_number: 4, response: { ...response, status: 'completed', usage } },
    ]),
  );
  assert.deepEqual(named(await ask('grok-4.5', { settings: { topK: 5, maxTokens: 2000 } })), CALL);
  await ask('grok-4.5');
  const [first, second] = requests;
  assert.equal(first!.url, '/v1/responses');
  assert.equal(first!.headers.authorization, 'Bearer k');
  assert.deepEqual([first!.body.store, first!.body.top_k], [false, undefined]);
  const back = second!.body.input.find(({ type }: { type?: string }) => type === 'reasoning');
  assert.equal(back?.encrypted_content, 'sealed', JSON.stringify(second!.body.input));
});
