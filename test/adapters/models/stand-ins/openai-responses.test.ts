/** The stand-in for OpenAI's Responses API refuses what OpenAI refuses. */
import assert from 'node:assert/strict';
import { judge, serve, type Case, type Server } from './kit.js';
import { RULES } from './rules/openai-responses.js';

const HEADERS = { authorization: 'Bearer k' };
const PATH = '/v1/responses';
const user = (text = 'hello'): any => ({ role: 'user', content: [{ type: 'input_text', text }] });
const said = (type = 'output_text'): any => ({ role: 'assistant', content: [{ type, text: 'x' }] });
const call = (id = 'call_1', more: object = {}): any => ({
  type: 'function_call',
  call_id: id,
  name: 'read',
  arguments: '{"path":"a.md"}',
  ...more,
});
const output = (id = 'call_1'): any => ({ type: 'function_call_output', call_id: id, output: 'text of a.md' });
const READ: any = {
  type: 'function',
  name: 'read',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } } },
};
const ask = (more: object = {}): any => ({ model: 'gpt-6-sol', store: false, input: [user()], tools: [READ], ...more });
const talk = (...items: any[]) => ask({ input: [user('look'), ...items] });
const tool = (more: object) => ask({ tools: [{ ...READ, ...more }] });
const answering = (schema: object) =>
  ask({ text: { format: { type: 'json_schema', name: 'answer', strict: true, schema } } });
const good = ask();
const paired = talk(call(), output());
const long = 'c'.repeat(65);
const made = await answered();
const [thought, message, called] = made.output;
const returned = talk(thought, message, called, output(called.call_id));
const change = (more: object) => talk({ ...thought, ...more }, message, called, output(called.call_id));
const strict = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
};

const cases: Case[] = [
  {
    rule: '2.key',
    when: 'a request without a key',
    bad: good,
    good,
    headers: { authorization: '' },
    status: 401,
    says: /API key/,
  },
  { rule: '4.json', when: 'a body that is not JSON', bad: '{', good, says: /parse the JSON body/ },
  {
    rule: '4.model-known',
    when: 'an unknown model',
    bad: ask({ model: 'gemini-4' }),
    good,
    status: 404,
    says: /does not exist or you do not have access/,
  },
  {
    rule: '4.prompt-length',
    when: 'an input beyond the window',
    bad: ask({ model: 'gpt-5', input: [user('x'.repeat(1_100_000))] }),
    good: ask({ model: 'gpt-5', input: [user('x'.repeat(1_000_000))] }),
    says: /Your input exceeds the context window of this model/,
  },
  {
    rule: '4.unknown-field',
    when: 'an unknown field',
    bad: ask({ max_tokens: 5 }),
    good: ask({ max_output_tokens: 50 }),
    says: /^Unknown parameter: 'max_tokens'\.$/,
  },
  {
    rule: '4.unknown-field',
    when: 'an unknown field of an item',
    bad: ask({ input: [{ ...user(), name: 'x' }] }),
    good,
    says: /^Unknown parameter: 'input\[0\]\.name'\.$/,
  },
  {
    rule: '4.unknown-field',
    when: 'a nested tool',
    bad: ask({ tools: [{ ...READ, function: {} }] }),
    good,
    says: /tools\[0\]\.function/,
  },
  {
    rule: '4.effort',
    when: 'effort minimal on GPT-6',
    bad: ask({ reasoning: { effort: 'minimal' } }),
    good: ask({ reasoning: { effort: 'none' } }),
    says: /Unsupported value: 'minimal'/,
  },
  {
    rule: '4.effort',
    when: 'effort none on GPT-6 Astra',
    bad: ask({ model: 'gpt-6-astra', reasoning: { effort: 'none' } }),
    good: ask({ model: 'gpt-6-astra', reasoning: { effort: 'max' } }),
    says: /Unsupported value: 'none'/,
  },
  {
    rule: '4.sampling',
    when: 'a temperature',
    bad: ask({ temperature: 0.5 }),
    good: ask({ temperature: 0.5, reasoning: { effort: 'none' } }),
    says: /Unsupported parameter: 'temperature' is not supported with this model\./,
  },
  {
    rule: '4.max-output-tokens',
    when: 'fewer than 16 output tokens',
    bad: ask({ max_output_tokens: 15 }),
    good: ask({ max_output_tokens: 16 }),
    says: /below minimum value\. Expected a value >= 16/,
  },
  {
    rule: '4.part-type',
    when: 'a user part of type text',
    bad: ask({ input: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] }),
    good,
    says: /Invalid value: 'text'\. Supported values are: 'input_text'/,
  },
  {
    rule: '4.part-type',
    when: 'an assistant part of type input_text',
    bad: talk(said('input_text'), user()),
    good: talk(said(), user()),
    says: /Supported values are: 'output_text', 'refusal'/,
  },
  {
    rule: '4.call-has-output',
    when: 'a call without its output',
    bad: talk(call(), user()),
    good: paired,
    says: /No tool output found for function call call_1\./,
  },
  {
    rule: '4.output-has-call',
    when: 'an output without its call',
    bad: talk(output('call_9')),
    good: paired,
    says: /No tool call found for function call output with call_id call_9\./,
  },
  {
    rule: '4.output-has-call',
    when: 'two outputs of one call',
    bad: talk(call(), output(), output()),
    good: paired,
    says: /No tool call found/,
  },
  {
    rule: '4.call-id-length',
    when: 'a call_id of 65 characters',
    bad: talk(call(long), output(long)),
    good: talk(call(long.slice(1)), output(long.slice(1))),
    says: /'input\[1\]\.call_id': string too long\. Expected a string with maximum length 64/,
  },
  {
    rule: '4.item-id',
    when: 'an item id with a wrong beginning',
    bad: talk(call('call_1', { id: 'x_1' }), output()),
    good: talk(call('call_1', { id: 'fc_1' }), output()),
    says: /Expected an ID that begins with 'fc'\./,
  },
  {
    rule: '4.thought-followed',
    when: 'a thought without what follows',
    bad: talk(thought, user()),
    good: returned,
    says: /of type 'reasoning' was provided without its required following item/,
  },
  {
    rule: '4.thought-required',
    when: 'a stored call without its thought',
    bad: undefined,
    good: undefined,
    earlier: storedCall,
    says: /was provided without its required 'reasoning' item: 'rs_/,
  },
  {
    rule: '4.thought-persisted',
    when: 'a thought without encrypted content',
    bad: change({ encrypted_content: undefined }),
    good: returned,
    status: 404,
    says: /Items are not persisted when `store` is set to false/,
  },
  {
    rule: '4.encrypted-supported',
    when: 'encrypted content on a model that does not reason',
    bad: ask({ model: 'gpt-4.1', include: ['reasoning.encrypted_content'] }),
    good: ask({ include: ['reasoning.encrypted_content'] }),
    says: /Encrypted content is not supported with this model\./,
  },
  {
    rule: '4.encrypted-genuine',
    when: 'changed encrypted content',
    bad: change({ encrypted_content: `${thought.encrypted_content}x` }),
    good: returned,
    says: /could not be verified/,
  },
  {
    rule: '4.encrypted-genuine',
    when: 'encrypted content of another family',
    bad: { ...returned, model: 'gpt-5' },
    good: returned,
    says: /could not be verified/,
  },
  {
    rule: '4.summary',
    when: 'a thought without summary',
    bad: change({ summary: undefined }),
    good: returned,
    says: /Missing required parameter: 'input\[1\]\.summary'\./,
  },
  {
    rule: '4.tool-name',
    when: 'a tool without a name',
    bad: tool({ name: undefined }),
    good,
    says: /Missing required parameter: 'tools\[0\]\.name'/,
  },
  {
    rule: '4.tool-count',
    when: '129 tools',
    bad: ask({ tools: Array.from({ length: 129 }, (_, at) => ({ ...READ, name: `t${at}` })) }),
    good: ask({ tools: Array.from({ length: 128 }, (_, at) => ({ ...READ, name: `t${at}` })) }),
    says: /array too long/,
  },
  { rule: '4.tool-count', when: 'an empty list of tools', bad: ask({ tools: [] }), good, says: /empty array/ },
  {
    rule: '4.tool-schema',
    when: 'an array without items',
    bad: tool({ parameters: { type: 'object', properties: { a: { type: 'array' } } } }),
    good,
    says: /Invalid schema for function 'read'.*missing items/,
  },
  {
    rule: '4.strict-schema',
    when: 'a strict schema that allows others',
    bad: tool({ strict: true, parameters: { ...strict, additionalProperties: undefined } }),
    good: tool({ strict: true, parameters: strict }),
    says: /In context=\(\), 'additionalProperties' is required to be supplied and to be false\./,
  },
  {
    rule: '4.strict-schema',
    when: 'a strict answer that allows others',
    bad: answering({ ...strict, additionalProperties: undefined }),
    good: answering(strict),
    says: /response_format 'answer'.*additionalProperties/,
  },
  {
    rule: '4.strict-schema',
    when: 'a strict schema with an optional property',
    bad: tool({ strict: true, parameters: { ...strict, required: [] } }),
    good: tool({ strict: true, parameters: strict }),
    says: /Missing 'path'/,
  },
  {
    rule: '4.cache-fields',
    when: 'explicit cache options on GPT-5',
    bad: ask({ model: 'gpt-5', prompt_cache_options: {} }),
    good: ask({ prompt_cache_options: {}, prompt_cache_key: 'k' }),
    says: /prompt_cache_options/,
  },
];

judge('openai-responses', {
  rules: RULES,
  path: PATH,
  headers: HEADERS,
  messageOf: (body) => body.error.message,
  cases,
});

/** A stored call, sent back without and with its thought. */
async function storedCall(server: Server): Promise<{ bad: unknown; good: unknown }> {
  const { output: items } = (await server.post(PATH, { ...talk(), store: true })).body;
  const stored = items[2];
  const thought = { type: 'item_reference', id: items[0].id };
  const send = (...more: any[]) => ({ ...talk(...more, stored, output(stored.call_id)), store: true });
  return { bad: send(), good: send(thought) };
}

/** An answer with a thought, a text and a call, as the stand-in makes it. */
async function answered(): Promise<any> {
  const server = await serve('openai-responses', HEADERS);
  const { status, body, text } = await server.post(PATH, talk());
  assert.equal(status, 200, text);
  return body;
}
