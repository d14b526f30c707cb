/** Chat-completions requests, for the stand-ins that speak that format. */

export const HEADERS = { authorization: 'Bearer k' };

export const READ = {
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};
export const TOOL = { type: 'function', function: READ };

export const user = (content: unknown, more: object = {}): any => ({ role: 'user', content, ...more });
export const said = (content: unknown, more: object = {}): any => ({ role: 'assistant', content, ...more });
export const call = (id: string, more: object = {}): any => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{"path":"a.md"}' } }],
  ...more,
});
export const result = (id: string, more: object = {}): any => ({
  role: 'tool',
  tool_call_id: id,
  content: 'text of a.md',
  ...more,
});

export const body = (model: string, more: object = {}): any => ({
  model,
  messages: [{ role: 'system', content: 'You are a test.' }, user('hello')],
  ...more,
});
