/** The stand-in for Mistral refuses what Mistral refuses. */
import { body, call, HEADERS, result, said, TOOL, user } from './chat-kit.js';
import { judge, type Case } from './kit.js';
import { RULES } from './rules/mistral.js';

const ask = (more: object = {}) => body('mistral-small-2603', more);
const good = ask();
const talk = (...messages: any[]) => ask({ messages: [user('hi'), ...messages] });
const id = 'abcDEF123';
const paired = talk(call(id), result(id));
const extra = { status: 422, says: /Extra inputs are not permitted/ };

const cases: Case[] = [
  {
    rule: '2.key',
    when: 'a request without a key',
    bad: good,
    good,
    headers: { authorization: '' },
    status: 401,
    says: /^Unauthorized$/,
  },
  { rule: '7.json', when: 'a body that is not JSON', bad: '{', good, status: 422, says: /JSON decode error/ },
  { rule: '7.model-known', when: 'an unknown model', bad: body('gpt-5'), good, says: /Invalid model: gpt-5/ },
  {
    rule: '7.prompt-length',
    when: 'a prompt beyond the window',
    bad: ask({ messages: [user('x'.repeat(520_000))] }),
    good: ask({ messages: [user('x'.repeat(500_000))] }),
    says: /Prompt contains \d+ tokens and 0 draft tokens, too large for model with 128000 maximum context length/,
  },
  {
    rule: '7.call-id',
    when: 'an id of ten letters',
    bad: talk(call(`${id}x`), result(`${id}x`)),
    good: paired,
    says: /Tool call id was abcDEF123x but must be a-z, A-Z, 0-9, with a length of 9\./,
  },
  {
    rule: '7.unknown-field',
    when: 'max_completion_tokens',
    bad: ask({ max_completion_tokens: 5 }),
    good: ask({ max_tokens: 5 }),
    ...extra,
  },
  { rule: '7.unknown-field', when: 'top_k', bad: ask({ top_k: 5 }), good, ...extra },
  {
    rule: '7.stream-options',
    when: 'stream_options with content',
    bad: ask({ stream: true, stream_options: { include_usage: true } }),
    good: ask({ stream: true }),
    ...extra,
  },
  {
    rule: '7.message-field',
    when: 'reasoning_content in a message',
    bad: talk(said('x', { reasoning_content: 'hm' }), user('well?')),
    good: talk(said('x'), user('well?')),
    ...extra,
  },
  {
    rule: '7.message-field',
    when: 'a name in a message',
    bad: talk(user('hi', { name: 'ana' })),
    good: talk(user('hi')),
    ...extra,
  },
  {
    rule: '7.empty-tools',
    when: 'an empty list of tools',
    bad: ask({ tools: [] }),
    good: ask({ tools: [TOOL] }),
    status: 422,
    says: /at least 1 item/,
  },
  {
    rule: '7.user-after-tool',
    when: 'a user after a tool',
    bad: talk(call(id), result(id), user('well?')),
    good: talk(call(id), result(id), said('Noted.'), user('well?')),
    says: /Unexpected role 'user' after role 'tool'/,
  },
  {
    rule: '7.as-many-results',
    when: 'a call without its result',
    bad: talk(call(id), said('x'), user('well?')),
    good: paired,
    says: /Not the same number of function calls and responses/,
  },
  {
    rule: '7.last-role',
    when: 'a last message from the assistant',
    bad: talk(said('x')),
    good: talk(said('x', { prefix: true })),
    says: /Expected last role User or Tool .* but got assistant/,
  },
  {
    rule: '7.assistant-empty',
    when: 'an empty assistant message',
    bad: talk(said(''), user('well?')),
    good: talk(said('x'), user('well?')),
    says: /either content or tool_calls/,
  },
  {
    rule: '7.effort',
    when: 'effort low on Small',
    bad: ask({ reasoning_effort: 'low' }),
    good: body('mistral-large-4-0', { reasoning_effort: 'low' }),
    status: 422,
    says: /Input should be 'none' or 'high'/,
  },
];

judge('mistral', {
  rules: RULES,
  path: '/v1/chat/completions',
  headers: HEADERS,
  messageOf: ({ detail, message }) => detail ?? message.detail?.[0].msg ?? message,
  cases,
});
