/** The stand-in for Anthropic refuses what Anthropic refuses. */
import { judge, type Case } from './kit.js';
import { HEADERS, TOOL, ask, call, result, user, signedTurn, changed } from './anthropic-kit.js';
import { RULES } from './rules/anthropic.js';

const { answered, later, bound } = await signedTurn();
const budget = { type: 'enabled', budget_tokens: 2000 };
const old = { model: 'claude-haiku-4-5' };
const good = ask();
const hi = [user('hi')];
const called = [user('hi'), call('t1')];
const mark = { type: 'ephemeral' };
const hour = { type: 'ephemeral', ttl: '1h' };
const text = (more: object = {}) => ({ type: 'text', text: 'hello', ...more });
const image = (media_type: string) => ({ type: 'image', source: { type: 'base64', media_type, data: 'AAAA' } });
const resultWith = (block: object) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 't1', content: [block] }],
});
const schema = (input_schema: unknown) => ask({ tools: [{ name: 'read', input_schema }] });

const cases: Case[] = [
  {
    rule: '2.key',
    when: 'a request without a key',
    bad: good,
    good,
    headers: { 'x-api-key': '' },
    status: 401,
    says: /x-api-key header is required/,
  },
  {
    rule: '2.version',
    when: 'a request without a version',
    bad: good,
    good,
    headers: { 'anthropic-version': '' },
    says: /anthropic-version/,
  },
  { rule: '3.json', when: 'a body that is not JSON', bad: '{"model":', good, says: /JSON/ },
  {
    rule: '3.model-known',
    when: 'an unknown model',
    bad: ask({ model: 'gpt-5' }),
    good,
    status: 404,
    says: /^model: gpt-5$/,
  },
  {
    rule: '3.size',
    when: 'more than 32 MB',
    bad: `${JSON.stringify(good)}${' '.repeat(33 << 20)}`,
    good,
    status: 413,
    says: /maximum size/,
  },
  {
    rule: '3.prompt-length',
    when: 'a prompt beyond the window',
    bad: ask({ ...old, messages: [user('x'.repeat(850_000))] }),
    good: ask({ ...old, messages: [user('x'.repeat(700_000))] }),
    says: /prompt is too long: \d+ tokens > 200000 maximum/,
  },
  {
    rule: '3-request.max-tokens-given',
    when: 'a request without max_tokens',
    bad: ask({ max_tokens: undefined }),
    good,
    says: /^max_tokens: Field required$/,
  },
  {
    rule: '3-request.max-tokens-limit',
    when: 'too many max_tokens',
    bad: ask({ max_tokens: 200_000 }),
    good: ask({ max_tokens: 128_000 }),
    says: /^max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5-5$/,
  },
  {
    rule: '3-request.unknown-field',
    when: 'an unknown field',
    bad: ask({ foo: 1 }),
    good,
    says: /^foo: Extra inputs are not permitted$/,
  },
  {
    rule: '3-request.unknown-field',
    when: 'an unknown field of a block',
    bad: ask({ messages: [{ role: 'user', content: [text({ bar: 1 })] }] }),
    good: ask({ messages: [{ role: 'user', content: [text()] }] }),
    says: /^messages\.0\.content\.0\.bar: Extra inputs/,
  },
  {
    rule: '3-request.first-user',
    when: 'a conversation that begins with the assistant',
    bad: ask({ messages: [{ role: 'assistant', content: 'hi' }, ...hi] }),
    good,
    says: /first message must use the "user" role/,
  },
  {
    rule: '3-request.system-role',
    when: 'a system message on a model that has none',
    bad: ask({ model: 'claude-opus-5', messages: [...hi, { role: 'system', content: 'new' }] }),
    good: ask({ messages: [...hi, { role: 'system', content: 'new' }] }),
    says: /Unexpected role "system"/,
  },
  {
    rule: '3-request.role',
    when: 'an unknown role',
    bad: ask({ messages: [...hi, { role: 'tool', content: 'x' }] }),
    good,
    says: /messages\.1\.role: Input should be 'user' or 'assistant'/,
  },
  {
    rule: '3-request.last-user',
    when: 'a prefilled answer',
    bad: ask({ messages: [...hi, { role: 'assistant', content: 'I' }] }),
    good: ask({ ...old, messages: [...hi, { role: 'assistant', content: 'I' }] }),
    says: /does not support assistant message prefill/,
  },
  {
    rule: '3-request.text-not-blank',
    when: 'an empty text',
    bad: ask({ messages: [user('')] }),
    good,
    says: /text content blocks must be non-empty/,
  },
  {
    rule: '3-request.text-not-blank',
    when: 'a text of blanks',
    bad: ask({ messages: [user(' \n')] }),
    good,
    says: /must contain non-whitespace text/,
  },
  {
    rule: '3-request.message-not-empty',
    when: 'a message without content',
    bad: ask({ messages: [{ role: 'user', content: [] }, ...hi] }),
    good,
    says: /must have non-empty content/,
  },
  {
    rule: '3-request.result-follows-call',
    when: 'a call without its result',
    bad: ask({ messages: [...called, user('well?')] }),
    good: ask({ messages: [...called, result('t1')] }),
    says: /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1\./,
  },
  {
    rule: '3-request.result-follows-call',
    when: 'a text before the result',
    bad: ask({ messages: [...called, { role: 'user', content: [text(), ...result('t1').content] }] }),
    good: ask({ messages: [...called, { role: 'user', content: [...result('t1').content, text()] }] }),
    says: /immediately after: t1\./,
  },
  {
    rule: '3-request.call-before-result',
    when: 'a result without its call',
    bad: ask({ messages: [result('t9')] }),
    good: ask({ messages: [...called, result('t1')] }),
    says: /unexpected `tool_use_id` found in `tool_result` blocks: t9/,
  },
  {
    rule: '3-request.one-result',
    when: 'two results of one call',
    bad: ask({ messages: [...called, result('t1', 't1')] }),
    good: ask({ messages: [...called, result('t1')] }),
    says: /multiple `tool_result` blocks/,
  },
  {
    rule: '3-request.call-id',
    when: 'an id with other characters',
    bad: ask({ messages: [user('hi'), call('t.1'), result('t.1')] }),
    good: ask({ messages: [user('hi'), call('t-1'), result('t-1')] }),
    says: /tool_use\.id: String should match pattern/,
  },
  {
    rule: '3-request.call-id',
    when: 'an id twice',
    bad: ask({ messages: [...called, result('t1'), call('t1'), result('t1')] }),
    good: ask({ messages: [...called, result('t1'), call('t2'), result('t2')] }),
    says: /ids must be unique/,
  },
  {
    rule: '3-request.call-input',
    when: 'an input that is a text',
    bad: ask({ messages: [user('hi'), call('t1', '{}'), result('t1')] }),
    good: ask({ messages: [user('hi'), call('t1', {}), result('t1')] }),
    says: /Input should be a valid dictionary/,
  },
  {
    rule: '3-request.tools-defined',
    when: 'calls without tools',
    bad: ask({ tools: undefined, messages: [...called, result('t1')] }),
    good: ask({ messages: [...called, result('t1')] }),
    says: /must define tools/,
  },
  {
    rule: '3-request.tool-name',
    when: 'a tool name with a dot',
    bad: ask({ tools: [{ ...TOOL, name: 'a.b' }] }),
    good,
    says: /tools\.0\.custom\.name: String should match pattern/,
  },
  {
    rule: '3-request.tool-unique',
    when: 'two tools of one name',
    bad: ask({ tools: [TOOL, TOOL] }),
    good,
    says: /must be unique/,
  },
  {
    rule: '3-request.tool-schema',
    when: 'a schema that is not an object',
    bad: schema({ type: 'string' }),
    good,
    says: /input_schema\.type: Input should be 'object'/,
  },
  {
    rule: '3-request.tool-schema',
    when: 'anyOf at the top of a schema',
    bad: schema({ type: 'object', anyOf: [] }),
    good,
    says: /does not support oneOf, allOf, or anyOf at the top level/,
  },
  {
    rule: '3-request.sampling',
    when: 'a temperature',
    bad: ask({ temperature: 0.5 }),
    good: ask({ model: 'claude-sonnet-4-6', temperature: 0.5 }),
    says: /^`temperature` is deprecated for this model\.$/,
  },
  { rule: '3-request.sampling', when: 'top_k', bad: ask({ top_k: 5 }), good, says: /^`top_k` is deprecated/ },
  {
    rule: '3-request.temperature-thinking',
    when: 'a temperature beside thinking',
    bad: ask({ ...old, thinking: budget, temperature: 0.5 }),
    good: ask({ ...old, thinking: budget, temperature: 1 }),
    says: /only be set to 1 when thinking/,
  },
  {
    rule: '3-request.temperature-or-top-p',
    when: 'temperature and top_p together',
    bad: ask({ ...old, temperature: 0.5, top_p: 0.9 }),
    good: ask({ ...old, top_p: 0.9 }),
    says: /cannot both be specified/,
  },
  {
    rule: '3-request.forced-tool',
    when: 'a forced tool',
    bad: ask({ tool_choice: { type: 'any' } }),
    good: ask({ model: 'claude-haiku-5-5', tool_choice: { type: 'tool', name: 'read' } }),
    says: /type "tool" and "any" are not supported/,
  },
  {
    rule: '3-input.image-type',
    when: 'an image of another type',
    bad: ask({ messages: [{ role: 'user', content: [image('image/bmp')] }] }),
    good: ask({ messages: [{ role: 'user', content: [image('image/png')] }] }),
    says: /media_type: Input should be 'image\/jpeg'/,
  },
  {
    rule: '3-input.image-type',
    when: 'an image of another type in a result',
    bad: ask({ messages: [...called, resultWith(image('image/bmp'))] }),
    good: ask({ messages: [...called, resultWith(image('image/png'))] }),
    says: /tool_result\.content\.0\.image/,
  },
  {
    rule: '3-thinking.disabled',
    when: 'disabled thinking',
    bad: ask({ thinking: { type: 'disabled' } }),
    good: ask({ model: 'claude-sonnet-5', thinking: { type: 'disabled' } }),
    says: /"thinking\.type\.disabled" is not supported for this model/,
  },
  {
    rule: '3-thinking.disabled-effort',
    when: 'disabled thinking at effort max',
    bad: ask({ model: 'claude-opus-5', thinking: { type: 'disabled' }, output_config: { effort: 'max' } }),
    good: ask({ model: 'claude-opus-5', thinking: { type: 'disabled' }, output_config: { effort: 'high' } }),
    says: /not supported with effort "max"/,
  },
  {
    rule: '3-thinking.budget',
    when: 'a thinking budget',
    bad: ask({ thinking: budget }),
    good: ask({ thinking: { type: 'adaptive' } }),
    says: /"thinking\.type\.enabled" is not supported/,
  },
  {
    rule: '3-thinking.between-tools',
    when: 'between_tools',
    bad: ask({ thinking: { type: 'between_tools' } }),
    good: ask({ model: 'claude-sonnet-5-5', thinking: { type: 'between_tools' } }),
    says: /between_tools/,
  },
  {
    rule: '3-thinking.adaptive',
    when: 'adaptive thinking on an old model',
    bad: ask({ ...old, thinking: { type: 'adaptive' } }),
    good: ask({ model: 'claude-opus-4-6', thinking: { type: 'adaptive' } }),
    says: /adaptive thinking is not supported on this model/,
  },
  {
    rule: '3-thinking.budget-minimum',
    when: 'a small budget',
    bad: ask({ ...old, thinking: { ...budget, budget_tokens: 1000 } }),
    good: ask({ ...old, thinking: budget }),
    says: /greater than or equal to 1024/,
  },
  {
    rule: '3-thinking.budget-below-max',
    when: 'a budget as large as max_tokens',
    bad: ask({ ...old, thinking: { ...budget, budget_tokens: 8000 } }),
    good: ask({ ...old, thinking: budget }),
    says: /must be greater than `thinking\.budget_tokens`/,
  },
  {
    rule: '3-thinking.effort',
    when: 'an unknown effort',
    bad: ask({ output_config: { effort: 'minimal' } }),
    good: ask({ output_config: { effort: 'xhigh' } }),
    says: /output_config\.effort: Input should be/,
  },
  {
    rule: '3-thinking.unchanged',
    when: 'a changed thought of the last answer',
    bad: changed(answered, { thinking: 'Other words' }),
    good: answered,
    says: /blocks in the latest assistant message cannot be modified/,
  },
  {
    rule: '3-thinking.signature-given',
    when: 'a thought without signature',
    bad: changed(answered, { signature: undefined }),
    good: answered,
    says: /thinking\.signature: Field required/,
  },
  {
    rule: '3-thinking.signature-genuine',
    when: 'a forged signature',
    bad: changed(answered, { signature: 'forged' }),
    good: answered,
    says: /Invalid `signature` in `thinking` block/,
  },
  {
    rule: '3-thinking.signature-genuine',
    when: 'a changed thought of an earlier answer',
    bad: changed(later, { thinking: 'Other words' }),
    good: later,
    says: /Invalid `signature`/,
  },
  {
    rule: '3-thinking.not-last',
    when: 'an answer of thoughts alone',
    bad: {
      ...answered,
      messages: [
        answered.messages[0],
        { role: 'assistant', content: [answered.messages[1].content[0]] },
        user('go on'),
      ],
    },
    good: answered,
    says: /The final block in an assistant message cannot be `thinking`/,
  },
  {
    rule: '3-thinking.budget-starts',
    when: 'an answer without its thoughts before results',
    bad: ask({ ...old, thinking: budget, messages: [...called, result('t1')] }),
    good: ask({ ...old, messages: [...called, result('t1')] }),
    says: /Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
  },
  {
    rule: '3-thinking.bound',
    when: 'a changed system prompt before a thought',
    bad: { ...bound, system: 'You are someone else.' },
    good: bound,
    says: /bound to a different conversation/,
  },
  {
    rule: '3-thinking.bound',
    when: 'a changed tool list before a thought',
    bad: { ...bound, tools: [{ ...TOOL, description: 'Other' }] },
    good: bound,
    says: /bound to a different conversation/,
  },
  {
    rule: '3-thinking.bound',
    when: 'a changed message before a thought',
    bad: { ...bound, messages: [user('something else to look at'), ...bound.messages.slice(1)] },
    good: bound,
    says: /bound to a different conversation/,
  },
  {
    rule: '3-thinking.no-gap',
    when: 'a thought taken out of the middle',
    bad: await withoutMiddle(),
    good: (await signedTurn()).long,
    says: /bound to a different conversation/,
  },
  {
    rule: '3-thinking.binding-beta',
    when: 'block_binding without its beta header',
    bad: ask({ thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } }),
    good: ask({ thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } }),
    goodHeaders: { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' },
    says: /block_binding: Extra inputs/,
  },
  {
    rule: '3-caching.four-marks',
    when: 'five marks',
    bad: ask({ messages: [{ role: 'user', content: Array.from({ length: 5 }, () => text({ cache_control: mark })) }] }),
    good: ask({
      messages: [{ role: 'user', content: Array.from({ length: 4 }, () => text({ cache_control: mark })) }],
    }),
    says: /A maximum of 4 blocks with cache_control may be provided\. Found 5\./,
  },
  {
    rule: '3-caching.four-marks',
    when: 'four marks and the automatic one',
    bad: ask({
      cache_control: mark,
      messages: [{ role: 'user', content: Array.from({ length: 4 }, () => text({ cache_control: mark })) }],
    }),
    good: ask({ cache_control: mark }),
    says: /Found 5\./,
  },
  {
    rule: '3-caching.ttl',
    when: 'an unknown ttl',
    bad: ask({ cache_control: { ...mark, ttl: '2h' } }),
    good: ask({ cache_control: hour }),
    says: /ttl: Input should be '5m' or '1h'/,
  },
  {
    rule: '3-caching.ttl-order',
    when: 'a long mark after a short one',
    bad: ask({
      tools: [{ ...TOOL, cache_control: mark }],
      messages: [{ role: 'user', content: [text({ cache_control: hour })] }],
    }),
    good: ask({
      tools: [{ ...TOOL, cache_control: hour }],
      messages: [{ role: 'user', content: [text({ cache_control: mark })] }],
    }),
    says: /a ttl='1h' cache_control block must not come after a ttl='5m'/,
  },
  {
    rule: '3-caching.not-on-thoughts',
    when: 'a mark on a thought',
    bad: changed(answered, { cache_control: mark }),
    good: answered,
    says: /thinking\.cache_control: Extra inputs are not permitted/,
  },
];

judge('anthropic', {
  rules: RULES,
  path: '/v1/messages',
  headers: HEADERS,
  messageOf: (body) => body.error.message,
  cases,
});

async function withoutMiddle(): Promise<any> {
  const { long } = await signedTurn();
  const messages = long.messages.map((message: any, at: number) =>
    at === 3 ? { ...message, content: message.content.filter((block: any) => block.type !== 'thinking') } : message,
  );
  return { ...long, messages };
}
