/** Answers, requests and token counts of the stand-in for Anthropic. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEADERS, TOOL, ask, call, result, signedTurn, user } from './anthropic-kit.js';
import { serve } from './kit.js';

const PATH = '/v1/messages';
const accepted = async (request: unknown, headers: Record<string, string> = {}) => {
  const server = await serve('anthropic', HEADERS);
  const reply = await server.post(PATH, request, headers);
  assert.equal(reply.status, 200, reply.text);
  return reply;
};

test('a stream has the events of Anthropic in their order', async () => {
  const { events, text } = await accepted(ask({ stream: true, messages: [user('look')] }));
  const kinds = events.map(({ type, delta }) => (delta?.type ? `${type} ${delta.type}` : type));
  assert.deepEqual(
    kinds.filter((kind, at) => kind !== kinds[at - 1]),
    [
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta signature_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta text_delta',
      'content_block_stop',
      'content_block_start',
      'content_block_delta input_json_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ],
  );
  const started = events.flatMap(({ type, index }) => (type === 'content_block_start' ? [index] : []));
  assert.deepEqual(started, [0, 1, 2]);
  assert.match(text, /^event: message_start\ndata: /);
  assert.equal(events.find(({ type }) => type === 'message_delta').delta.stop_reason, 'tool_use');
  const json = events.flatMap(({ delta }) => delta?.partial_json ?? []);
  assert.equal(json[0], '', 'the first piece is empty');
  assert.deepEqual(JSON.parse(json.join('')), { path: 'a.md' });
});

test('a refusal comes with 200 and its category', async () => {
  const { body } = await accepted(ask({ messages: [user('refuse')] }));
  assert.equal(body.stop_reason, 'refusal');
  assert.ok(body.stop_details.category);
});

test('thoughts are empty unless asked for, and the third answer has a redacted one', async () => {
  const { bound, long, answered } = await signedTurn();
  assert.equal(bound.messages[1].content[0].thinking, '');
  assert.match(answered.messages[1].content[0].thinking, /turn 1/);
  assert.deepEqual(
    long.messages[5].content.map(({ type }: any) => type),
    ['thinking', 'redacted_thinking', 'text', 'tool_use'],
  );
  const partial = structuredClone(long);
  partial.messages[5].content.splice(1, 1);
  const server = await serve('anthropic', HEADERS);
  const refused = await server.post(PATH, partial);
  assert.equal(refused.headers.get('x-guild-refused'), '3-thinking.unchanged', refused.text);
});

test('an edit that does not change a conversation keeps its thoughts valid', async () => {
  const { bound, long } = await signedTurn();
  const withMark = structuredClone(bound);
  withMark.messages[2].content[0].cache_control = { type: 'ephemeral' };
  withMark.tools[0].cache_control = { type: 'ephemeral' };
  withMark.system = [{ type: 'text', text: bound.system, cache_control: { type: 'ephemeral' } }];
  await accepted(withMark);
  await accepted({ ...bound, output_config: { effort: 'max' } });
  const withoutOldest = structuredClone(long);
  withoutOldest.messages[1].content.shift();
  await accepted(withoutOldest);
});

test('a thought that is missing, foreign or marked to be dropped is not an error', async () => {
  const { bound } = await signedTurn();
  const missing = structuredClone(bound);
  missing.messages[1].content.shift();
  await accepted(missing);
  await accepted({ ...bound, model: 'claude-sonnet-5', system: 'Another.' });
  const drop = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
  await accepted(
    { ...bound, system: 'Another.', thinking: drop },
    { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' },
  );
});

test('neighbours of one role are joined', async () => {
  await accepted(ask({ messages: [user('a'), user('b'), call('t1'), result('t1'), user('c')] }));
});

const BIG = 'word '.repeat(2000);
const MARK = { cache_control: { type: 'ephemeral' } };
const block = (text: string, more: object = {}) => ({ type: 'text', text, ...more });
const usage = (reply: { body: any }) => {
  const { input_tokens: fresh, cache_read_input_tokens: read, cache_creation_input_tokens: written } = reply.body.usage;
  return { fresh, read, written };
};

test('a marked beginning is written once and then read', async () => {
  const server = await serve('anthropic', HEADERS);
  const request = (text: string) => ask({ system: [block(BIG, MARK)], messages: [user(text)] });
  const first = usage(await server.post(PATH, request('one')));
  assert.ok(first.written > 2500 && first.read === 0, JSON.stringify(first));
  const second = usage(await server.post(PATH, request('two')));
  assert.deepEqual([second.read, second.written], [first.written, 0]);
  assert.ok(second.fresh < 50, 'only the message is fresh');
  const other = usage(await server.post(PATH, { ...request('two'), tools: [{ ...TOOL, description: 'New' }] }));
  assert.equal(other.read, 0, 'tools come before the system prompt');
});

test('a beginning below the minimum of the model is not cached', async () => {
  const server = await serve('anthropic', HEADERS);
  const small = { system: [block('word '.repeat(500), MARK)] };
  const written = async (model: string) => usage(await server.post(PATH, ask({ ...small, model }))).written;
  assert.ok((await written('claude-opus-5-5')) > 512);
  assert.equal(await written('claude-sonnet-5'), 0);
});

test('a mark finds what was stored at most twenty blocks before it', async () => {
  for (const [more, isHit] of [
    [20, true],
    [21, false],
  ] as const) {
    const server = await serve('anthropic', HEADERS);
    const content = [block(BIG, MARK)];
    await server.post(PATH, ask({ messages: [{ role: 'user', content }] }));
    const later = [
      block(BIG),
      ...Array.from({ length: more - 1 }, (_, at) => block(`part ${at}`)),
      block('the last', MARK),
    ];
    const { read } = usage(await server.post(PATH, ask({ messages: [{ role: 'user', content: later }] })));
    assert.equal(read > 0, isHit, `${more} blocks later`);
  }
});

test('a mark on a growing conversation reads what the turn before wrote', async () => {
  const server = await serve('anthropic', HEADERS);
  const messages: any[] = [];
  let before = 0;
  for (let turn = 1; turn <= 6; turn++) {
    messages.push({ role: 'user', content: [block(`${BIG} ${turn}`)] });
    const last = { role: 'user', content: [block(`${BIG} ${turn}`, MARK)] };
    const reply = await server.post(PATH, ask({ messages: [...messages.slice(0, -1), last] }));
    const { read, written } = usage(reply);
    assert.equal(read, before);
    before = read + written;
    messages.push({ role: 'assistant', content: reply.body.content });
  }
});

test('a stored beginning ends after five minutes without use, or after an hour', async () => {
  let now = 0;
  const server = await serve('anthropic', HEADERS, { now: () => now });
  const read = async (ttl: string, at: number) => {
    now = at;
    const mark = { cache_control: { type: 'ephemeral', ttl } };
    return usage(await server.post(PATH, ask({ system: [block(BIG + ttl, mark)] }))).read > 0;
  };
  const minute = 60_000;
  assert.deepEqual(
    [await read('5m', 0), await read('5m', 4 * minute), await read('5m', 8 * minute)],
    [false, true, true],
  );
  assert.equal(await read('5m', 14 * minute), false);
  assert.deepEqual([await read('1h', 20 * minute), await read('1h', 70 * minute)], [false, true]);
});

test('a change of thinking loses the messages, a change of effort everything', async () => {
  const server = await serve('anthropic', HEADERS);
  const request = (more: object) =>
    ask({
      model: 'claude-opus-5',
      system: [block(BIG, MARK)],
      messages: [{ role: 'user', content: [block(BIG, MARK)] }],
      ...more,
    });
  const all = usage(await server.post(PATH, request({}))).written;
  assert.equal(usage(await server.post(PATH, request({}))).read, all);
  const { read } = usage(await server.post(PATH, request({ thinking: { type: 'adaptive' } })));
  assert.ok(read > 0 && read < all, 'only the system prompt is read');
  assert.equal(usage(await server.post(PATH, request({ output_config: { effort: 'low' } }))).read, 0);
});
