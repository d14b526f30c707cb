/** The stand-in for DeepSeek refuses what DeepSeek refuses. */
import { body, call, HEADERS, result, TOOL, user } from './chat-kit.js';
import { judge, type Case } from './kit.js';
import { RULES } from './rules/deepseek.js';

const ask = (more: object = {}) => body('deepseek-flash', more);
const good = ask({ top_k: 3, unknown: true });
const talk = (...messages: any[]) => ask({ messages: [user('hi'), ...messages] });
const thought = { reasoning_content: 'hm' };
const paired = talk(call('c1', thought), result('c1'));
const json = { response_format: { type: 'json_object' } };

const cases: Case[] = [
  {
    rule: '2.key',
    when: 'a request without a key',
    bad: good,
    good,
    headers: { authorization: '' },
    status: 401,
    says: /Authentication Fails/,
  },
  { rule: '8.json', when: 'a body that is not JSON', bad: '{', good, says: /JSON/ },
  { rule: '8.model-known', when: 'a model that has ended', bad: body('deepseek-chat'), good, says: /Model Not Exist/ },
  {
    rule: '8.prompt-length',
    when: 'a prompt beyond the window',
    bad: ask({ messages: [user('x'.repeat(4_100_000))] }),
    good: ask({ messages: [user('x'.repeat(3_900_000))] }),
    says: /maximum context length is 1000000 tokens/,
  },
  {
    rule: '8.reasoning-content',
    when: 'a call without its reasoning_content',
    bad: talk(call('c1'), result('c1')),
    good: paired,
    says: /reasoning_content in the thinking mode must be passed back/,
  },
  {
    rule: '8.reasoning-content',
    when: 'an old call without its reasoning_content',
    bad: talk(call('c1'), result('c1'), { role: 'assistant', content: 'x' }, user('more')),
    good: talk(call('c1', { reasoning_content: '' }), result('c1'), { role: 'assistant', content: 'x' }, user('more')),
    says: /reasoning_content/,
  },
  {
    rule: '8.results-follow-calls',
    when: 'a call without its result',
    bad: talk(call('c1', thought), user('well?')),
    good: { ...talk(call('c1'), result('c1')), thinking: { type: 'disabled' } },
    says: /insufficient tool messages following tool_calls message/,
  },
  {
    rule: '8.call-before-result',
    when: 'a result without its call',
    bad: talk(result('c1')),
    good: paired,
    says: /must be a response to a preceding message/,
  },
  {
    rule: '8.forced-tool',
    when: 'a forced tool while thinking',
    bad: ask({ tools: [TOOL], tool_choice: 'required' }),
    good: ask({ tools: [TOOL], tool_choice: 'required', thinking: { type: 'disabled' } }),
    says: /tool_choice/,
  },
  {
    rule: '8.json-word',
    when: 'JSON mode without the word json',
    bad: ask(json),
    good: ask({ ...json, messages: [user('as json')] }),
    says: /must contain the word 'json'/,
  },
];

judge('deepseek', {
  rules: RULES,
  path: '/chat/completions',
  headers: HEADERS,
  messageOf: (body) => body.error.message,
  cases,
});
