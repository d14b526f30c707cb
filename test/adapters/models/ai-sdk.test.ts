/** Real providers over real HTTP, against our own model server and against misbehaving servers. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { callId } from '../../../src/adapters/models/ai-sdk/text/call-id.js';
import { aiSdk } from '../../../src/adapters/models/ai-sdk/index.js';
import { standIns } from '../../../src/adapters/models/stand-ins/index.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import type { Provider } from '../../../src/domain/config/config.js';
import type { Message } from '../../../src/domain/session/session.js';
import type { Model, ModelReply, ModelRequest } from '../../../src/ports/model.js';
import { rawServer, sse, type RawServer } from '../../kit/raw-server.js';
import { withEnoughTime } from '../../kit/until.js';

const NOW = new Date('2026-11-15T12:00:00Z');
const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

interface ModelOptions {
  providers?: Record<string, Provider>;
  env?: Record<string, string>;
  callMs?: number;
  stallMs?: number;
  prices?: Record<string, { input: number; output: number; cached?: number }>;
}

function realModel({ providers = {}, env = {}, callMs = 10_000, stallMs = 5000, prices = {} }: ModelOptions): Model {
  return aiSdk({
    config: { providers, prices, timeouts: { callMs, stallMs, tries: 1 } },
    env,
    clock: { now: () => NOW },
  });
}

function ask(more: Partial<ModelRequest> & { model: string }): ModelRequest {
  return {
    system: 'You are a test.',
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    settings: {},
    agent: 'a',
    task: 't',
    turn: 1,
    ...more,
  };
}

function failure(reply: ModelReply) {
  assert.ok(!reply.ok, `expected a failure, got ${JSON.stringify(reply)}`);
  return reply.failure;
}

function answer(reply: ModelReply) {
  assert.ok(reply.ok, `expected an answer, got ${JSON.stringify(reply)}`);
  return reply.answer;
}

/** The same address in a form that does not count as local, so that OpenAI's package is used. */
function elsewhere(url: string): string {
  return url.replace('127.0.0.1', '127.1');
}

/** A raw server behind both provider kinds that use chat completions. */
async function raw(
  reply: Parameters<typeof rawServer>[0],
): Promise<RawServer & { providers: Record<string, Provider> }> {
  const server = await rawServer(reply);
  open.push(server);
  return {
    ...server,
    providers: {
      local: { kind: 'openai-compatible', baseUrl: server.url },
      oa: { kind: 'openai', baseUrl: elsewhere(server.url) },
    },
  };
}

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const HELLO = [
  chunk({ role: 'assistant', content: 'Grüße, ' }),
  chunk({ content: '👋 world' }),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
].join('');
const CALLS = [
  chunk({
    role: 'assistant',
    tool_calls: [{ index: 0, id: 'k1', type: 'function', function: { name: 'read', arguments: '' } }],
  }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":"ü' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '.md"}' } }] }),
  chunk({}, 'tool_calls'),
].join('');

for (const name of ['local', 'oa']) {
  test(`${name}: text, tool calls, usage and streaming arrive through the model server`, async () => {
    const server = await standIns({
      model: scripted(
        '- {when: file, say: Let me see., call: [{read_file: {path: memory/a.md, lines: [1, 2]}}, vote], usage: {input: 120, output: 30, cached: 100}}\n- say: "{{agent}} heard {{last}}"',
      ),
    });
    open.push(server);
    const model = realModel({
      providers: {
        local: { kind: 'openai-compatible', baseUrl: server.url },
        oa: { kind: 'openai', baseUrl: elsewhere(server.url) },
      },
      prices: { [`${name}/planner`]: { input: 2, output: 10, cached: 1 } },
    });
    const heard: string[] = [];
    const reply = answer(await model.call(ask({ model: `${name}/planner`, onText: (text) => heard.push(text) })));
    assert.equal(reply.text, 'planner heard hello');
    assert.deepEqual(heard, ['planner', ' heard', ' hello']);
    assert.equal(reply.finish, 'stop');
    const called = answer(
      await model.call(ask({ model: `${name}/planner`, messages: [{ role: 'user', content: 'the file' }] })),
    );
    assert.equal(called.finish, 'tool_calls');
    assert.deepEqual(called.toolCalls, [
      { id: 'c1-1', name: 'read_file', arguments: { path: 'memory/a.md', lines: [1, 2] } },
      { id: 'c1-2', name: 'vote', arguments: {} },
    ]);
    assert.deepEqual(
      [called.inputTokens, called.outputTokens, called.cachedTokens, called.microUsd],
      [120, 30, 100, 440],
    );
  });

  test(`${name}: every failure of the model server keeps its class`, async () => {
    const kinds = ['auth', 'quota', 'rate', 'context', 'refused', 'garbage', 'cut_off', 'unreachable', 'unknown_model'];
    const script = kinds.map(
      (kind) => `- {agent: ${kind}, fail: ${kind}${kind === 'rate' ? ', retry_after: 2.5s' : ''}}`,
    );
    const server = await standIns({
      model: scripted([...script, '- {agent: late, say: Half a wor, fail: cut_off}'].join('\n')),
    });
    open.push(server);
    const model = realModel({
      providers: {
        local: { kind: 'openai-compatible', baseUrl: server.url },
        oa: { kind: 'openai', baseUrl: elsewhere(server.url) },
      },
    });
    for (const kind of kinds) {
      const { class: result, message } = failure(await model.call(ask({ model: `${name}/${kind}` })));
      assert.equal(result, kind, message);
      assert.ok(!message.includes('\n') && message.startsWith(name), message);
    }
    assert.equal(failure(await model.call(ask({ model: `${name}/rate` }))).retryAfterMs, 2500);
    const heard: string[] = [];
    assert.equal(
      failure(await model.call(ask({ model: `${name}/late`, onText: (text) => heard.push(text) }))).class,
      'cut_off',
    );
    assert.equal(heard.join(''), 'Half a wor');
    await server.close();
    const gone = failure(await model.call(ask({ model: `${name}/auth` })));
    assert.equal(gone.class, 'unreachable');
    assert.match(gone.message, /ECONNREFUSED: nothing is listening there/);
  });

  test(`${name}: a stream may be split at any byte`, async () => {
    const bytes = Buffer.from(HELLO);
    let cut = 0;
    const server = await raw((response) => {
      sse(response).write(bytes.subarray(0, cut));
      setImmediate(() => response.end(bytes.subarray(cut)));
    });
    const model = realModel(server);
    for (cut = 1; cut < bytes.length; cut += name === 'local' ? 1 : 7) {
      const reply = answer(await model.call(ask({ model: `${name}/m` })));
      assert.equal(reply.text, 'Grüße, 👋 world', `cut at ${cut}`);
      assert.equal(reply.finish, 'stop');
    }
    assert.equal(server.connections(), 1, 'one connection serves all calls');
    const userAgent = String(server.requests[0]!.headers['user-agent']);
    assert.equal(/ai-sdk/.test(userAgent), name === 'oa', 'oa is the package, local our own client');
  });

  test(`${name}: single bytes, CRLF, comments and unknown events do not change the answer`, async () => {
    const odd = `: hello\r\n\r\nevent: ping\r\n\r\n${CALLS.replaceAll('\n', '\r\n')}: bye\r\n\r\ndata: [DONE]\r\n\r\n`;
    const server = await raw(async (response) => {
      sse(response);
      for (const byte of Buffer.from(odd)) {
        response.write(Buffer.of(byte));
        if (byte % 16 === 0) await new Promise(setImmediate);
      }
      response.end();
    });
    const reply = answer(await realModel(server).call(ask({ model: `${name}/m` })));
    assert.deepEqual(reply.toolCalls, [{ id: 'k1', name: 'read', arguments: { path: 'ü.md' } }]);
  });

  test(`${name}: an answer without a finish reason does not count`, async () => {
    let ending = (response: import('node:http').ServerResponse): unknown => response.end();
    const server = await raw((response) => {
      sse(response).write(chunk({ role: 'assistant', content: 'Half' }));
      ending(response);
    });
    const model = realModel(server);
    assert.equal(failure(await model.call(ask({ model: `${name}/m` }))).class, 'cut_off');
    ending = (response) => response.write('data: {"id', () => response.destroy());
    assert.equal(failure(await model.call(ask({ model: `${name}/m` }))).class, 'cut_off');
  });

  test(`${name}: an unusable answer is garbage, and the message says why`, async () => {
    const bad =
      chunk({
        tool_calls: [{ index: 0, id: 'k', type: 'function', function: { name: 'read', arguments: '{"path": oops' } }],
      }) + chunk({}, 'tool_calls');
    const list =
      chunk({ tool_calls: [{ index: 0, id: 'k', type: 'function', function: { name: 'read', arguments: '[1]' } }] }) +
      chunk({}, 'tool_calls');
    const cases: [string, RegExp][] = [
      ['data: {not json}\n\n', /unusable answer/],
      [bad, /called read with arguments that are not a JSON object/],
      [list, /called read with arguments that are not a JSON object/],
      [chunk({ role: 'assistant', content: '' }) + chunk({}, 'stop'), /empty answer/],
    ];
    for (const [body, expected] of cases) {
      const server = await raw((response) => void sse(response).end(body));
      const result = failure(await realModel(server).call(ask({ model: `${name}/m` })));
      assert.equal(result.class, 'garbage', result.message);
      assert.match(result.message, expected);
    }
  });

  test(`${name}: an error inside a stream has its class`, async () => {
    const cases = {
      server_error: 'unreachable',
      rate_limit_exceeded: 'rate',
      insufficient_quota: 'quota',
      context_length_exceeded: 'context',
    };
    for (const [type, expected] of Object.entries(cases)) {
      const event = `data: ${JSON.stringify({ error: { message: 'sorry', type, code: type } })}\n\n`;
      const server = await raw(
        (response) => void sse(response).end(chunk({ role: 'assistant', content: 'Well' }) + event),
      );
      assert.equal(failure(await realModel(server).call(ask({ model: `${name}/m` }))).class, expected);
    }
  });

  test(`${name}: silence ends a stream, comments keep it alive`, async () => {
    let pauseMs = 0;
    const server = await raw(async (response, body) => {
      sse(response).write(chunk({ role: 'assistant', content: 'Hm' }));
      if (body.model !== 'patient') return;
      for (let i = 0; i < 12; i++) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        response.write(': still thinking\n\n');
      }
      response.end(chunk({}, 'stop'));
    });
    const stalled = failure(await realModel({ ...server, stallMs: 500 }).call(ask({ model: `${name}/silent` })));
    assert.equal(stalled.class, 'cut_off');
    assert.match(stalled.message, /stopped sending in the middle .*500 ms/);
    const patient = await withEnoughTime(
      (stallMs) => {
        pauseMs = stallMs / 10;
        return realModel({ ...server, stallMs }).call(ask({ model: `${name}/patient` }));
      },
      (outcome) => outcome.ok,
    );
    assert.equal(answer(patient).text, 'Hm');
  });

  test(`${name}: a call has a time limit, and an abort ends it immediately`, async () => {
    const server = await raw(() => undefined);
    const late = failure(await realModel({ ...server, callMs: 60 }).call(ask({ model: `${name}/m` })));
    assert.equal(late.class, 'cut_off');
    assert.match(late.message, /within 0.06 s; raise timeouts.call/);
    for (const when of ['before', 'while']) {
      const stop = new AbortController();
      if (when === 'before') stop.abort();
      const going = realModel(server).call(ask({ model: `${name}/m`, signal: stop.signal }));
      setImmediate(() => stop.abort());
      assert.equal(failure(await going).class, 'aborted');
    }
  });
}

test('tool calls are understood in every form that local servers send', async () => {
  const call = (id: string | undefined, index: number | undefined, name: string | undefined, args: unknown) => ({
    id,
    index,
    type: 'function',
    function: { name, arguments: args },
  });
  const cases: [object[], object[]][] = [
    // whole calls without an index
    [
      [{ tool_calls: [call('a', undefined, 'one', '{"x":1}')] }, { tool_calls: [call('b', undefined, 'two', '{}')] }],
      [
        { id: 'a', name: 'one', arguments: { x: 1 } },
        { id: 'b', name: 'two', arguments: {} },
      ],
    ],
    // one index for two calls
    [
      [{ tool_calls: [call('a', 0, 'one', '{"x":1}')] }, { tool_calls: [call('b', 0, 'two', '{}')] }],
      [
        { id: 'a', name: 'one', arguments: { x: 1 } },
        { id: 'b', name: 'two', arguments: {} },
      ],
    ],
    // interleaved calls in pieces
    [
      [
        { tool_calls: [call('a', 0, 'one', ''), call('b', 1, 'two', '{')] },
        { tool_calls: [call(undefined, 1, undefined, '}'), call(undefined, 0, undefined, '{"x":')] },
        { tool_calls: [call(undefined, 0, undefined, '1}')] },
      ],
      [
        { id: 'a', name: 'one', arguments: { x: 1 } },
        { id: 'b', name: 'two', arguments: {} },
      ],
    ],
    // arguments as an object, a missing id, and a repeated name
    [[{ tool_calls: [call(undefined, 0, 'one', { x: 1 })] }], [{ id: 'call_1', name: 'one', arguments: { x: 1 } }]],
    [
      [{ tool_calls: [call('a', 0, 'one', '{"x"')] }, { tool_calls: [call('a', 0, 'one', ':1}')] }],
      [{ id: 'a', name: 'one', arguments: { x: 1 } }],
    ],
  ];
  for (const [deltas, expected] of cases) {
    const server = await raw(
      (response) => void sse(response).end(deltas.map((delta) => chunk(delta)).join('') + chunk({}, 'stop')),
    );
    const reply = answer(await realModel(server).call(ask({ model: 'local/m' })));
    assert.deepEqual(reply.toolCalls, expected);
    assert.equal(reply.finish, 'tool_calls');
  }
  const thinking = await raw(
    (response) =>
      void sse(response).end(
        chunk({ reasoning_content: 'hm' }) +
          chunk({ content: [{ type: 'text', text: 'Yes' }] }) +
          chunk({}, 'stop').trimEnd(),
      ),
  );
  assert.equal(answer(await realModel(thinking).call(ask({ model: 'local/m' }))).text, 'Yes');
  const refusing = await raw(
    (response) => void sse(response).end(chunk({ refusal: 'I will not.' }) + chunk({}, 'stop')),
  );
  assert.equal(failure(await realModel(refusing).call(ask({ model: 'local/m' }))).class, 'refused');
});

test('an abort in the middle of a stream ends it', async () => {
  const server = await raw((response) => void sse(response).write(chunk({ role: 'assistant', content: 'Once' })));
  const stop = new AbortController();
  const reply = await realModel(server).call(
    ask({ model: 'local/m', signal: stop.signal, onText: () => stop.abort() }),
  );
  assert.equal(failure(reply).class, 'aborted');
});

test('errors of many servers get the right class and wait time', async () => {
  const cases: [number, string, Record<string, string>, string, number?][] = [
    [401, '{"error":{"message":"bad key sk-secret"}}', {}, 'auth'],
    [403, 'forbidden', {}, 'auth'],
    [402, '{"error":"pay"}', {}, 'quota'],
    [400, '{"error":{"message":"Your credit balance is too low to access the API"}}', {}, 'quota'],
    [429, '{"error":{"message":"slow down"}}', { 'retry-after': 'Sun, 15 Nov 2026 12:01:30 GMT' }, 'rate', 90_000],
    [429, '{"error":{"message":"slow down"}}', { 'retry-after': '7' }, 'rate', 7000],
    [429, '{"error":{"message":"slow down"}}', { 'retry-after-ms': '450', 'retry-after': '7' }, 'rate', 450],
    [429, '{"error":{"message":"slow down"}}', { 'retry-after': 'soon' }, 'rate'],
    [429, '{"error":{"message":"slow","details":[{"retryDelay":"23s"}]}}', {}, 'rate', 23_000],
    [400, '{"error":{"message":"This model\'s maximum context length is 8192 tokens"}}', {}, 'context'],
    [413, 'too large', {}, 'context'],
    [400, '{"error":{"message":"stopped","code":"content_filter"}}', {}, 'refused'],
    [422, '{"error":{"message":"temperature is not supported"}}', {}, 'refused'],
    [404, '{"error":{"message":"model m not found"}}', {}, 'unknown_model'],
    [404, '<html>nginx</html>', {}, 'unknown_model'],
    [500, '<html>oops</html>', {}, 'unreachable'],
    [503, 'busy', { 'retry-after': '3' }, 'unreachable', 3000],
    [529, '{"error":{"type":"overloaded_error","message":"Overloaded"}}', {}, 'unreachable'],
    [302, '', { location: 'https://elsewhere.example/' }, 'unreachable'],
  ];
  for (const [status, body, headers, expected, wait] of cases) {
    const server = await raw((response) => void response.writeHead(status, headers).end(body));
    const providers: Record<string, Provider> = {
      local: { kind: 'openai-compatible', baseUrl: server.url, keyEnv: 'KEY' },
    };
    const result = failure(await realModel({ providers, env: { KEY: 'sk-secret' } }).call(ask({ model: 'local/m' })));
    assert.equal(result.class, expected, `${status} ${body}: ${result.message}`);
    assert.equal(result.retryAfterMs, wait, `${status} ${body}`);
    assert.ok(!result.message.includes('sk-secret'));
    assert.equal(server.requests.length, 1, 'a call is always one request');
  }
});

test('a short key is hidden where it is a word, and ordinary words stay whole', async () => {
  const body = '{"error":{"message":"check the ollama key \\"k\\": it is unknown"}}';
  const server = await raw((response) => void response.writeHead(401).end(body));
  const providers: Record<string, Provider> = {
    local: { kind: 'openai-compatible', baseUrl: server.url, keyEnv: 'KEY' },
  };
  const { message } = failure(await realModel({ providers, env: { KEY: 'k' } }).call(ask({ model: 'local/m' })));
  assert.match(message, /check the ollama key "\[key\]": it is unknown/);
});

test('a missing key is reported before anything is sent', async () => {
  const model = realModel({});
  const names = {
    openai: 'OPENAI_API_KEY',
    anthropic: 'ANTHROPIC_API_KEY',
    google: 'GOOGLE_GENERATIVE_AI_API_KEY',
    groq: 'GROQ_API_KEY',
  };
  for (const [name, key] of Object.entries(names)) {
    const result = failure(await model.call(ask({ model: `${name}/m`, agent: 'planner' })));
    assert.deepEqual(result, {
      class: 'auth',
      message: `${key} is not set: export it, or choose another model in the file of agent planner or in guild.yaml`,
    });
  }
  assert.equal(failure(await model.call(ask({ model: 'nobody/m' }))).class, 'unknown_model');
});

test('OPENAI_BASE_URL is used, and a local model needs no key', async () => {
  const server = await raw((response) => void sse(response).end(HELLO));
  const reply = await realModel({ env: { OPENAI_BASE_URL: server.url } }).call(ask({ model: 'openai/gpt-5' }));
  assert.equal(answer(reply).text, 'Grüße, 👋 world');
  assert.equal(server.requests[0]!.url, '/v1/chat/completions');
});

test('an edited conversation becomes a prompt that providers accept', async () => {
  const server = await raw((response) => void sse(response).end(HELLO));
  const messages: Message[] = [
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
    {
      role: 'assistant',
      content: '',
      toolCalls: [
        { id: 'a.1', name: 'read', arguments: { path: 'x' } },
        { id: 'b', name: 'ls', arguments: {} },
      ],
    },
    { role: 'tool', content: 'text of x', toolCallId: 'a.1' },
    { role: 'user', content: 'three' },
    { role: 'tool', content: 'stray', toolCallId: 'zz', name: 'ls' },
    { role: 'assistant', content: '' },
  ];
  const tools = [
    {
      name: 'read',
      description: 'Reads.',
      parameters: { type: 'object' as const, properties: { path: { type: 'string' as const } } },
    },
  ];
  const settings = { temperature: 0.3, maxTokens: 50, topP: 0.9 };
  for (let turn = 1; turn <= 2; turn++)
    await realModel(server).call(ask({ model: 'local/m', messages, tools, settings }));
  const [first, second] = server.requests.map((request) => request.body);
  assert.deepEqual(first, second, 'cached messages equal fresh ones');
  assert.deepEqual(first.messages, [
    { role: 'system', content: 'You are a test.' },
    { role: 'user', content: 'one\n\ntwo' },
    {
      role: 'assistant',
      content: first.messages[2].content,
      tool_calls: [
        { id: callId('a.1'), type: 'function', function: { name: 'read', arguments: '{"path":"x"}' } },
        { id: callId('b'), type: 'function', function: { name: 'ls', arguments: '{}' } },
      ],
    },
    { role: 'tool', tool_call_id: callId('a.1'), content: 'text of x' },
    { role: 'tool', tool_call_id: callId('b'), content: 'The result of this call is missing.' },
    { role: 'user', content: 'three\n\n[result of ls]\nstray' },
  ]);
  assert.equal(first.tools[0].function.name, 'read');
  assert.deepEqual([first.temperature, first.max_tokens, first.top_p, first.stream], [0.3, 50, 0.9, true]);
});

test('a compressed answer is decompressed', async () => {
  const server = await raw(
    (response) =>
      void response
        .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
        .end(gzipSync(HELLO)),
  );
  assert.equal(answer(await realModel(server).call(ask({ model: 'local/m' }))).text, 'Grüße, 👋 world');
});

test('an answer cut off by max_tokens says so, and a cut-off tool call is not run', async () => {
  const server = await raw((response, body) => {
    const cut = chunk({
      tool_calls: [{ index: 0, id: 'k', type: 'function', function: { name: 'read', arguments: '{"pa' } }],
    });
    sse(response).end((body.model === 'text' ? chunk({ content: 'Once upon' }) : cut) + chunk({}, 'length'));
  });
  const model = realModel(server);
  assert.equal(answer(await model.call(ask({ model: 'local/text' }))).finish, 'length');
  assert.equal(failure(await model.call(ask({ model: 'local/call' }))).class, 'context');
});

test('anthropic: a conversation with tools works over the Messages API', async () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 20, cache_read_input_tokens: 80, cache_creation_input_tokens: 0, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'look.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} },
    },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"path": "a' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '.md"}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 30 } },
    { type: 'message_stop' },
  ];
  let sent = events;
  const server = await rawServer(
    (response) =>
      void sse(response).end(sent.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')),
  );
  open.push(server);
  const model = realModel({ env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' } });
  const messages: Message[] = [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      content: 'x',
      toolCalls: [
        { id: 'a', name: 'read', arguments: {} },
        { id: 'b', name: 'read', arguments: {} },
      ],
    },
    { role: 'tool', content: 'no such file', toolCallId: 'a', isError: true },
    { role: 'tool', content: 'text', toolCallId: 'b' },
  ];
  const reply = answer(
    await model.call(ask({ model: 'anthropic/claude-sonnet-4-5', messages, settings: { reasoning: 'high' } })),
  );
  assert.equal(reply.text, 'Let me look.');
  assert.deepEqual(reply.toolCalls, [{ id: 'toolu_1', name: 'read', arguments: { path: 'a.md' } }]);
  assert.deepEqual([reply.inputTokens, reply.cachedTokens, reply.outputTokens], [100, 80, 30]);
  assert.equal(reply.microUsd, 20 * 3 + Math.round(80 * 0.3) + 30 * 15);
  const { body, headers } = server.requests[0]!;
  assert.equal(headers['x-api-key'], 'k');
  assert.equal(body.thinking, undefined, 'no reasoning between a call and its result');
  assert.deepEqual(
    body.messages
      .at(-1)
      .content.map((block: { tool_use_id: string; is_error?: boolean }) => [block.tool_use_id, block.is_error]),
    [
      [callId('a'), true],
      [callId('b'), undefined],
    ],
  );

  sent = events.slice(0, 5);
  assert.equal(failure(await model.call(ask({ model: 'anthropic/claude-sonnet-4-5' }))).class, 'cut_off');
  sent = [
    ...events.slice(0, 4),
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as never,
  ];
  assert.equal(failure(await model.call(ask({ model: 'anthropic/claude-sonnet-4-5' }))).class, 'unreachable');
});

test('google: text, a function call and a blocked prompt are understood', async () => {
  const part = (content: object[], finish?: string) => ({
    candidates: [{ content: { role: 'model', parts: content }, ...(finish ? { finishReason: finish } : {}), index: 0 }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15, cachedContentTokenCount: 4 },
  });
  let sent: object[] = [
    part([{ text: 'Well, ' }]),
    part([{ functionCall: { name: 'read', args: { path: 'a' } } }], 'STOP'),
  ];
  const server = await rawServer(
    (response) => void sse(response).end(sent.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('')),
  );
  open.push(server);
  const model = realModel({
    providers: { google: { kind: 'google', baseUrl: server.url } },
    env: { GEMINI_API_KEY: 'k' },
  });
  const reply = answer(await model.call(ask({ model: 'google/gemini-2.5-pro' })));
  assert.equal(reply.text, 'Well, ');
  assert.deepEqual(
    reply.toolCalls.map(({ name, arguments: args }) => ({ name, args })),
    [{ name: 'read', args: { path: 'a' } }],
  );
  assert.equal(reply.finish, 'tool_calls');
  assert.deepEqual([reply.inputTokens, reply.outputTokens, reply.cachedTokens], [10, 5, 4]);
  assert.equal(server.requests[0]!.headers['x-goog-api-key'], 'k');
  sent = [part([], 'SAFETY')];
  assert.equal(failure(await model.call(ask({ model: 'google/gemini-2.5-pro' }))).class, 'refused');
});
