/** The stand-in for OpenAI's chat completions refuses what OpenAI refuses. */
import { body, call, HEADERS, READ, result, said, TOOL, user } from './chat-kit.js';
import { judge, type Case } from './kit.js';
import { RULES } from './rules/openai-chat.js';

const ask = (more: object = {}) => body('gpt-5', more);
const good = ask();
const tool = (more: object) => ask({ tools: [{ type: 'function', function: { ...READ, ...more } }] });
const talk = (...messages: any[]) => ask({ messages: [user('hi'), ...messages] });
const paired = talk(call('c1'), result('c1'));
const long = 'c'.repeat(41);

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
  { rule: '5.json', when: 'a body that is not JSON', bad: '{', good, says: /parse the JSON body/ },
  {
    rule: '5.model-known',
    when: 'an unknown model',
    bad: body('claude-opus-5'),
    good,
    status: 404,
    says: /The model 'claude-opus-5' does not exist or you do not have access to it/,
  },
  {
    rule: '5.prompt-length',
    when: 'a prompt beyond the window',
    bad: ask({ messages: [user('x'.repeat(1_100_000))] }),
    good: ask({ messages: [user('x'.repeat(1_000_000))] }),
    says: /maximum context length is 272000 tokens/,
  },
  {
    rule: '5.tools-need-responses',
    when: 'tools beside reasoning on GPT-5.6',
    bad: body('gpt-5.6-sol', { tools: [TOOL] }),
    good: body('gpt-5.6-sol', { tools: [TOOL], reasoning_effort: 'none' }),
    says: /Function tools with reasoning_effort are not supported for gpt-5\.6-sol in \/v1\/chat\/completions/,
  },
  {
    rule: '5.tools-need-responses',
    when: 'any tools on GPT-6.1 Sol',
    bad: body('gpt-6.1-sol', { tools: [TOOL] }),
    good: body('gpt-6.1-sol'),
    says: /use \/v1\/responses/,
  },
  {
    rule: '5.max-completion-tokens',
    when: 'max_tokens on GPT-5',
    bad: ask({ max_tokens: 100 }),
    good: ask({ max_completion_tokens: 100 }),
    says: /'max_tokens' is not supported with this model\. Use 'max_completion_tokens' instead/,
  },
  {
    rule: '5.temperature',
    when: 'a temperature other than 1',
    bad: ask({ temperature: 0 }),
    good: ask({ temperature: 1 }),
    says: /'temperature' does not support 0 with this model/,
  },
  {
    rule: '5.temperature',
    when: 'top_p',
    bad: ask({ top_p: 0.9 }),
    good: body('gpt-5.2', { top_p: 0.9, reasoning_effort: 'none' }),
    says: /'top_p' is not supported/,
  },
  {
    rule: '5.effort',
    when: 'effort minimal on GPT-6',
    bad: body('gpt-6-sol', { reasoning_effort: 'minimal' }),
    good: body('gpt-6-sol', { reasoning_effort: 'low' }),
    says: /does not support 'minimal'/,
  },
  {
    rule: '5.effort',
    when: 'an effort on a model that does not reason',
    bad: body('gpt-4.1', { reasoning_effort: 'low' }),
    good: body('gpt-4.1', { temperature: 0, max_tokens: 5 }),
    says: /Unrecognized request argument supplied: reasoning_effort/,
  },
  {
    rule: '5.results-follow-calls',
    when: 'a call without its result',
    bad: talk(call('c1'), user('well?')),
    good: paired,
    says: /must be followed by tool messages responding to each 'tool_call_id'.*c1/,
  },
  {
    rule: '5.call-before-result',
    when: 'a result without its call',
    bad: talk(result('c1')),
    good: paired,
    says: /must be a response to a preceeding message with 'tool_calls'/,
  },
  {
    rule: '5.call-before-result',
    when: 'a second result of one call',
    bad: talk(call('c1'), result('c1'), result('c1')),
    good: paired,
    says: /must be a response/,
  },
  {
    rule: '5.call-id-length',
    when: 'an id of 41 characters',
    bad: talk(call(long), result(long)),
    good: talk(call(long.slice(1)), result(long.slice(1))),
    says: /'messages\[1\]\.tool_calls\[0\]\.id': string too long\. Expected a string with maximum length 40/,
  },
  {
    rule: '5.content-null',
    when: 'an answer of nothing',
    bad: talk(said(null), user('well?')),
    good: talk(said('x'), user('well?')),
    says: /expected a string, got null/,
  },
  {
    rule: '5.empty-list',
    when: 'an empty list of tools',
    bad: ask({ tools: [] }),
    good: ask({ tools: [TOOL] }),
    says: /'tools': empty array\. Expected an array with minimum length 1/,
  },
  {
    rule: '5.empty-list',
    when: 'an empty list of calls',
    bad: talk(said('x', { tool_calls: [] }), user('well?')),
    good: talk(said('x'), user('well?')),
    says: /tool_calls': empty array/,
  },
  {
    rule: '5.tool-choice-alone',
    when: 'tool_choice without tools',
    bad: ask({ tool_choice: 'auto' }),
    good: ask({ tool_choice: 'auto', tools: [TOOL] }),
    says: /only allowed when 'tools' are specified/,
  },
  {
    rule: '5.stream-options-alone',
    when: 'stream_options without stream',
    bad: ask({ stream_options: { include_usage: true } }),
    good: ask({ stream: true, stream_options: { include_usage: true } }),
    says: /only allowed when 'stream' is enabled/,
  },
  {
    rule: '5.unknown-field',
    when: 'top_k',
    bad: ask({ top_k: 3 }),
    good,
    says: /^Unrecognized request argument supplied: top_k$/,
  },
  {
    rule: '5.foreign-thoughts',
    when: 'reasoning_content of another provider',
    bad: talk(said('x', { reasoning_content: 'hm' }), user('well?')),
    good: talk(said('x'), user('well?')),
    says: /Unknown parameter: 'messages\[1\]\.reasoning_content'/,
  },
  {
    rule: '5.tool-name',
    when: 'a tool name with a dot',
    bad: tool({ name: 'a.b' }),
    good: tool({ name: 'a_b' }),
    says: /tools\[0\]\.function\.name/,
  },
  {
    rule: '5.tool-schema',
    when: 'an array without items',
    bad: tool({ parameters: { type: 'object', properties: { a: { type: 'array' } } } }),
    good: tool({ parameters: { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } } }),
    says: /Invalid schema for function 'read'.*array schema missing items/,
  },
  {
    rule: '5.cache-fields',
    when: 'in_memory retention on GPT-5.6',
    bad: body('gpt-5.6-sol', { prompt_cache_retention: 'in_memory' }),
    good: body('gpt-5.6-sol', { prompt_cache_key: 'k' }),
    says: /'prompt_cache_retention' is not supported/,
  },
  {
    rule: '5.cache-fields',
    when: 'explicit cache options on GPT-5',
    bad: ask({ prompt_cache_options: {} }),
    good: ask({ prompt_cache_retention: 'in_memory' }),
    says: /'prompt_cache_options' is not supported/,
  },
];

judge('openai-chat', {
  rules: RULES,
  path: '/v1/chat/completions',
  headers: HEADERS,
  messageOf: (body) => body.error.message,
  cases,
});
