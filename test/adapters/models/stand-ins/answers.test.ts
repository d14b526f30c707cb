/** Answers of the stand-ins for OpenAI, Google, Mistral and DeepSeek. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { STAND_IN_NAMES, type StandInName } from '../../../../src/adapters/models/stand-ins/index.js';
import * as chat from './chat-kit.js';
import { HEADERS as ANTHROPIC, ask as askAnthropic, user as anthropicUser } from './anthropic-kit.js';
import { serve, type Reply, type Server } from './kit.js';

/** How to ask each stand-in one question, and where its answer is. */
const DIALECTS: Record<
  StandInName,
  {
    headers: Record<string, string>;
    ask(server: Server, text: string, stream?: boolean): Promise<Reply>;
    textOf(body: any): string;
  }
> = {
  anthropic: {
    headers: ANTHROPIC,
    ask: (server, text, stream = false) =>
      server.post('/v1/messages', askAnthropic({ stream, messages: [anthropicUser(text)] }), AGENT),
    textOf: ({ content }) => content.find(({ type }: any) => type === 'text').text,
  },
  'openai-responses': {
    headers: chat.HEADERS,
    ask: (server, text, stream = false) =>
      server.post('/v1/responses', { model: 'gpt-6-sol', store: false, stream, input: text }, AGENT),
    textOf: ({ output }) => output.find(({ type }: any) => type === 'message').content[0].text,
  },
  'openai-chat': {
    headers: chat.HEADERS,
    ask: (server, text, stream = false) =>
      server.post('/v1/chat/completions', chat.body('gpt-5', { stream, messages: [chat.user(text)] }), AGENT),
    textOf: ({ choices }) => choices[0].message.content,
  },
  google: {
    headers: { 'x-goog-api-key': 'k' },
    ask: (server, text, stream = false) =>
      server.post(
        `/v1beta/models/gemini-4-argon:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        { contents: [{ role: 'user', parts: [{ text }] }] },
        AGENT,
      ),
    textOf: ({ candidates }) => candidates[0].content.parts[0].text,
  },
  mistral: {
    headers: chat.HEADERS,
    ask: (server, text, stream = false) =>
      server.post(
        '/v1/chat/completions',
        chat.body('mistral-small-2603', { stream, messages: [chat.user(text)] }),
        AGENT,
      ),
    textOf: ({ choices }) => choices[0].message.content,
  },
  deepseek: {
    headers: chat.HEADERS,
    ask: (server, text, stream = false) =>
      server.post('/v1/chat/completions', chat.body('deepseek-flash', { stream, messages: [chat.user(text)] }), AGENT),
    textOf: ({ choices }) => choices[0].message.content,
  },
};
const AGENT = { 'x-guild-agent': 'planner', 'x-guild-task': 't7' };

async function dialect(as: StandInName, script?: string) {
  const { headers, ask, textOf } = DIALECTS[as];
  const server = await serve(as, headers, script === undefined ? {} : { script });
  return { ask: (text: string, stream?: boolean) => ask(server, text, stream), textOf, server };
}

for (const as of STAND_IN_NAMES) {
  test(`${as} plays the line of the agent that asks, whole and in a stream`, async () => {
    const { ask, textOf } = await dialect(as);
    const whole = await ask('hello');
    assert.equal(textOf(whole.body), 'Turn 1 of planner: hello');
    const stream = await ask('hello', true);
    assert.match(stream.headers.get('content-type')!, /event-stream/);
    const said = [...stream.text.matchAll(/"(?:delta|text|content)":"((?:Turn| 1| of| planner:| hello))"/g)];
    assert.equal(said.map(([, word]) => word).join(''), 'Turn 1 of planner: hello');
  });

  test(`${as} answers scripted failures with the provider's status`, async () => {
    const kinds = ['auth', 'quota', 'rate', 'context', 'unknown_model', 'unreachable', 'cut_off', 'garbage'];
    const script = kinds.map((kind) => `- {when: ${kind}, fail: ${kind}, retry_after: 2s}`).join('\n');
    const { ask } = await dialect(as, script);
    const statuses: Record<string, number> = {};
    for (const kind of kinds)
      statuses[kind] = await ask(kind, true).then(
        ({ status, body }) => (typeof body === 'string' ? 0 : status),
        () => -1,
      );
    assert.deepEqual(statuses, {
      ...{ auth: 401, quota: 429, rate: 429, context: 400, unknown_model: 404, unreachable: 503 },
      cut_off: -1,
      garbage: 0,
      ...STATUSES[as],
    });
  });
}

const STATUSES: Record<StandInName, Record<string, number>> = {
  anthropic: { quota: 400, unreachable: 529 },
  'openai-responses': { unreachable: 500 },
  'openai-chat': { unreachable: 500 },
  google: { auth: 403 },
  mistral: { quota: 402, unknown_model: 400 },
  deepseek: { quota: 402, unknown_model: 400 },
};

test('Responses: the thought is complete only when its item is done, and nothing says [DONE]', async () => {
  const { ask } = await dialect('openai-responses');
  const { events, text } = await ask('look', true);
  const thought = (step: string) =>
    events.find(({ type, item }) => type === `response.output_item.${step}` && item.type === 'reasoning').item;
  assert.ok(thought('added').encrypted_content.length < thought('done').encrypted_content.length);
  assert.deepEqual(thought('done').summary, []);
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, at) => at),
  );
  assert.equal(events.at(-1).type, 'response.completed');
  assert.deepEqual(
    events.at(-1).response.output.map(({ type }: any) => type),
    ['reasoning', 'message', 'function_call'],
  );
  assert.doesNotMatch(text, /\[DONE\]/);
  assert.equal((await ask('long', true)).events.at(-1).response.incomplete_details.reason, 'max_output_tokens');
});

test('OpenAI: a beginning of 1,024 tokens is cached for the same prompt_cache_key', async () => {
  const server = await serve('openai-responses', chat.HEADERS);
  const cached = async (key: string, more: string) => {
    const input = [{ role: 'user', content: 'word '.repeat(1500) + more }];
    const { body } = await server.post('/v1/responses', {
      model: 'gpt-6-sol',
      store: false,
      input,
      prompt_cache_key: key,
    });
    return body.usage.input_tokens_details.cached_tokens;
  };
  assert.equal(await cached('a', 'one'), 0);
  const hit = await cached('a', 'two');
  assert.ok(hit >= 1024 && hit % 128 === 0, String(hit));
  assert.equal(await cached('b', 'two'), 0);
});

test('chat: usage comes in a chunk of its own only if asked for', async () => {
  const server = await serve('openai-chat', chat.HEADERS);
  const stream = async (more: object) =>
    (await server.post('/v1/chat/completions', chat.body('gpt-5', { stream: true, ...more }))).events;
  assert.ok((await stream({})).every(({ usage }) => usage === undefined));
  const last = (await stream({ stream_options: { include_usage: true } })).at(-1);
  assert.deepEqual(last.choices, []);
  assert.ok(last.usage.prompt_tokens > 0);
});

test('Google: the first of parallel calls is signed, a text is signed in a last empty part', async () => {
  const { ask } = await dialect('google');
  const parts = (reply: Reply) => reply.events.flatMap(({ candidates }) => candidates[0].content.parts);
  const calls = parts(await ask('both', true)).filter(({ functionCall }) => functionCall);
  assert.deepEqual(
    calls.map(({ thoughtSignature }) => thoughtSignature !== undefined),
    [true, false],
  );
  assert.ok(
    calls.every(({ functionCall }) => functionCall.id),
    'Gemini 4 gives ids',
  );
  const reply = await ask('hello', true);
  const last = parts(reply).at(-1);
  assert.equal(last.text, '');
  assert.ok(last.thoughtSignature);
  assert.match(reply.text, /\r\n\r\n/);
  assert.equal(reply.events.at(-1).candidates[0].finishReason, 'STOP');
});

test('Mistral: ids have nine characters, calls come whole, usage comes unasked', async () => {
  const { ask } = await dialect('mistral');
  const { events } = await ask('both', true);
  const calls = events.flatMap(({ choices }) => choices[0].delta.tool_calls ?? []);
  assert.equal(calls.length, 2);
  for (const { id, function: called } of calls) {
    assert.match(id, /^[a-zA-Z0-9]{9}$/);
    assert.ok(JSON.parse(called.arguments).path);
  }
  assert.ok(events.at(-1).usage.prompt_tokens > 0);
});

test('Mistral: thoughts are parts of the content, before the text', async () => {
  const server = await serve('mistral', chat.HEADERS);
  const request = (stream: boolean) => chat.body('mistral-small-2603', { stream, reasoning_effort: 'high' });
  const { body } = await server.post('/v1/chat/completions', request(false));
  assert.deepEqual(
    body.choices[0].message.content.map(({ type }: any) => type),
    ['thinking', 'text'],
  );
  const { events } = await server.post('/v1/chat/completions', request(true));
  assert.equal(
    events.find(({ choices }) => Array.isArray(choices[0].delta.content)).choices[0].delta.content[0].type,
    'thinking',
  );
});

test('DeepSeek: thoughts come beside a null content, cached tokens in the finish chunk', async () => {
  const { ask } = await dialect('deepseek');
  const { events, text } = await ask('look', true);
  assert.match(text, /^: keep-alive\n/);
  const thought = events.find(({ choices }) => choices[0].delta.reasoning_content);
  assert.equal(thought.choices[0].delta.content, null);
  const { usage, choices } = events.at(-1);
  assert.equal(choices[0].finish_reason, 'tool_calls');
  assert.equal(usage.prompt_cache_hit_tokens + usage.prompt_cache_miss_tokens, usage.prompt_tokens);
});
