/**
 * Streams in the vendors' documented formats, replayed byte for byte, and what goes back with the
 * next request: thoughts in their order, with their signatures, and nothing joined.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { aiSdk } from '../../../src/adapters/models/ai-sdk/index.js';
import type { Provider } from '../../../src/domain/config/config.js';
import type { Message } from '../../../src/domain/session/session.js';
import { rawServer, sse } from '../../kit/raw-server.js';

/** Plays the stream twice: the answer to the first request goes back with the second. */
async function replay(kind: Provider['kind'], model: string, stream: string) {
  const server = await rawServer((response) => void sse(response).end(stream));
  after(() => server.close());
  const client = aiSdk({
    config: {
      providers: { there: { kind, baseUrl: server.url, keyEnv: 'KEY' } },
      prices: {},
      timeouts: { callMs: 30_000, stallMs: 10_000, tries: 1 },
    },
    env: { KEY: 'k' },
    clock: { now: () => new Date('2026-11-17T00:00:00Z') },
  });
  const messages: Message[] = [{ role: 'user', content: 'Look.' }];
  const ask = () =>
    client.call({
      model: `there/${model}`,
      system: '',
      messages,
      tools: [{ name: 'read', description: 'Reads.', parameters: { type: 'object' } }],
      settings: {},
      agent: 'a',
      task: 't',
      turn: 1,
    });
  const reply = await ask();
  assert.ok(reply.ok, JSON.stringify(reply));
  const { text: content, toolCalls, provider } = reply.answer;
  messages.push({ role: 'assistant', content, toolCalls, ...(provider ? { provider } : {}) });
  for (const { id } of toolCalls) messages.push({ role: 'tool', toolCallId: id, content: 'x' });
  if (toolCalls.length === 0) messages.push({ role: 'user', content: 'Go on.' });
  await ask();
  return { answer: reply.answer, body: server.requests[1]!.body };
}

const named = (events: { type: string }[]) =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

test('Anthropic: thinking, redacted thinking, text and a call go back in their order', async () => {
  const block = (index: number, start: object, deltas: object[]) => [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-5-5', content: [] };
  const { answer, body } = await replay(
    'anthropic',
    'claude-opus-5-5',
    named([
      { type: 'message_start', message: { ...message, usage: { input_tokens: 10, output_tokens: 1 } } } as {
        type: string;
      },
      { type: 'ping' },
      ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: 'Weigh' },
        { type: 'thinking_delta', thinking: 'ing.' },
        { type: 'signature_delta', signature: 'sig-1' },
      ]),
      ...block(1, { type: 'redacted_thinking', data: 'hidden-1' }, []),
      ...block(2, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'I look.' }]),
      ...block(3, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }, [
        { type: 'input_json_delta', partial_json: '' },
        { type: 'input_json_delta', partial_json: '{"path":"a"}' },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } } as { type: string },
      { type: 'message_stop' },
    ]),
  );
  assert.equal(answer.text, 'I look.');
  const [thought, redacted, text, call] = body.messages[1].content;
  assert.deepEqual(thought, { type: 'thinking', thinking: 'Weighing.', signature: 'sig-1' });
  assert.deepEqual(redacted, { type: 'redacted_thinking', data: 'hidden-1' });
  assert.deepEqual([text.text, call.name, call.input], ['I look.', 'read', { path: 'a' }]);
});

test('Gemini: the signature of a text stays on its own empty part', async () => {
  const event = (parts: object[], finishReason?: string) =>
    `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason ? { finishReason } : {}) }], usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 } })}\r\n\r\n`;
  const { body } = await replay(
    'google',
    'gemini-4-argon',
    event([{ text: 'All ' }]) + event([{ text: 'well.' }]) + event([{ text: '', thoughtSignature: 'sig-1' }], 'STOP'),
  );
  assert.deepEqual(body.contents[1].parts, [{ text: 'All well.' }, { text: '', thoughtSignature: 'sig-1' }]);
});

test('MiniMax at an address that a person names: both fields of its thoughts go back', async () => {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const detail = (text: string) => ({ type: 'reasoning.text', index: 0, text });
  const { body } = await replay(
    'openai-compatible',
    'MiniMax-M3',
    chunk({ role: 'assistant', reasoning_content: 'Weigh', reasoning_details: [detail('Weigh')] }) +
      chunk({ reasoning_content: 'ing.', reasoning_details: [detail('ing.')] }) +
      chunk({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'read', arguments: '{}' } }] }) +
      chunk({}, 'tool_calls') +
      'data: [DONE]\n\n',
  );
  const answer = body.messages.find(({ role }: { role: string }) => role === 'assistant');
  assert.equal(answer.reasoning_content, 'Weighing.');
  assert.deepEqual(answer.reasoning_details, [detail('Weighing.')]);
});
