/** Requests to the stand-in for Anthropic. */
import assert from 'node:assert/strict';
import { serve } from './kit.js';

export const HEADERS = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };

export const TOOL = {
  name: 'read',
  description: 'Reads a file.',
  input_schema: { type: 'object', properties: { path: { type: 'string' } } },
};

export const user = (text: string): any => ({ role: 'user', content: [{ type: 'text', text }] });

export const call = (id: string, input: unknown = { path: 'a.md' }): any => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'read', input }],
});

export const result = (...ids: string[]): any => ({
  role: 'user',
  content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'text of a.md' })),
});

/** A good request; `more` replaces fields. */
export function ask(more: object = {}): any {
  return {
    model: 'claude-opus-5-5',
    max_tokens: 4000,
    system: 'You are a test.',
    tools: [TOOL],
    messages: [user('hello')],
    ...more,
  };
}

/**
 * Conversations with thoughts that the stand-in itself made: `answered` after one call with the
 * text of the thought, `later` with one more answer, `bound` and `long` on a model that binds.
 */
export async function signedTurn(): Promise<{ answered: any; later: any; bound: any; long: any }> {
  const server = await serve('anthropic', HEADERS);
  const play = async (request: any, next: (content: any[]) => any) => {
    const { status, body, text } = await server.post('/v1/messages', request);
    assert.equal(status, 200, text);
    const messages = [...request.messages, { role: 'assistant', content: body.content }, next(body.content)];
    return { ...request, messages };
  };
  const resultOf = (content: any[]) =>
    result(...content.filter(({ type }) => type === 'tool_use').map(({ id }) => id as string));
  const shown = { thinking: { type: 'adaptive', display: 'summarized' }, model: 'claude-opus-5' };
  const answered = await play(ask({ ...shown, messages: [user('look')] }), resultOf);
  const later = await play(answered, () => user('and now?'));
  const bound = await play(ask({ messages: [user('look')] }), resultOf);
  const long = await play(await play(bound, () => user('look')), resultOf);
  return { answered, later, bound, long };
}

/** The same conversation with its first thought changed; undefined removes a field. */
export function changed(request: any, more: object): any {
  const copy = structuredClone(request);
  const thought = copy.messages[1].content[0];
  assert.equal(thought.type, 'thinking');
  Object.assign(thought, more);
  return copy;
}
