/** Plays the bytes of a provider's answer to our real client, over HTTP, in pieces of any size. */
import assert from 'node:assert/strict';
import type http from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { aiSdk } from '../../../src/adapters/models/ai-sdk/index.js';
import type { Provider } from '../../../src/domain/config/config.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { ModelReply, ToolSpec } from '../../../src/ports/model.js';
import { rawServer } from '../raw-server.js';

export interface RecordedStream {
  provider: Omit<Provider, 'baseUrl' | 'keyEnv'>;
  model: string;
  bytes: Buffer;
  isJson: boolean;
}

const TOOLS: ToolSpec[] = ['read', 'ring'].map((name) => ({
  name,
  description: 'Does it.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
}));

/**
 * `sizes`: how many bytes each write has, repeated until all are sent. An answer goes back with a
 * second request, whose body is `next`.
 */
export async function replayStream(
  { provider, model, bytes, isJson }: RecordedStream,
  sizes: readonly number[],
): Promise<{ reply: ModelReply; heard: string; next: string }> {
  const server = await rawServer((response) => void send(response, bytes, sizes, isJson));
  try {
    const client = aiSdk({
      config: {
        providers: { there: { ...provider, baseUrl: server.url, keyEnv: 'KEY' } },
        prices: {},
        timeouts: { callMs: 60_000, stallMs: 30_000, tries: 1 },
      },
      env: { KEY: 'k' },
      clock: { now: () => new Date('2026-11-17T00:00:00Z') },
    });
    const messages: Message[] = [{ role: 'user', content: 'Look.' }];
    let heard = '';
    const ask = (onText?: (text: string) => void): Promise<ModelReply> =>
      client.call({
        ...{ model: `there/${model}`, system: 'You are a test.', messages, tools: TOOLS, settings: {} },
        ...{ agent: 'a', task: 't', turn: 1, ...(onText ? { onText } : {}) },
      });
    const reply = await ask((text) => (heard += text));
    if (!reply.ok) return { reply, heard, next: '' };
    const { text: content, toolCalls, provider: kept } = reply.answer;
    messages.push({ role: 'assistant', content, toolCalls, ...(kept ? { provider: kept } : {}) });
    for (const { id, name } of toolCalls) messages.push({ role: 'tool', toolCallId: id, name, content: 'x' });
    if (toolCalls.length === 0) messages.push({ role: 'user', content: 'Go on.' });
    await ask();
    assert.equal(server.requests.length, 2);
    return { reply, heard, next: JSON.stringify(server.requests[1]!.body) };
  } finally {
    await server.close();
  }
}

async function send(
  response: http.ServerResponse,
  bytes: Buffer,
  sizes: readonly number[],
  isJson: boolean,
): Promise<void> {
  response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'text/event-stream' });
  for (let from = 0, i = 0; from < bytes.length && !response.destroyed; i++) {
    const size = sizes[i % sizes.length]!;
    response.write(bytes.subarray(from, from + size));
    from += size;
    await setImmediate();
  }
  response.end();
}
