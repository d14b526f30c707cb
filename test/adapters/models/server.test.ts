/** The model server speaks OpenAI's chat completions. */
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, test } from 'node:test';
import { standIns } from '../../../src/adapters/models/stand-ins/index.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import type { ModelRequest } from '../../../src/ports/model.js';

const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((server) => server.close())));

async function serve(script: string) {
  const server = await standIns({ model: scripted(script) });
  open.push(server);
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return { ...server, post };
}

const hello = { model: 'scripted/planner', messages: [{ role: 'user', content: 'hello' }] };

test('an answer without streaming has the format of OpenAI', async () => {
  const { post } = await serve(
    '- {say: "{{agent}} {{turn}}", call: [{read: {path: a}}], usage: {input: 7, output: 3, cached: 2}}',
  );
  const reply = (await (
    await post({
      ...hello,
      messages: [
        ...hello.messages,
        { role: 'assistant', content: 'x' },
        { role: 'user', content: [{ type: 'text', text: 'y' }] },
      ],
    })
  ).json()) as any;
  assert.equal(reply.object, 'chat.completion');
  assert.deepEqual(reply.choices[0].message, {
    role: 'assistant',
    content: 'planner 2',
    tool_calls: [{ id: 'c2-1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }],
  });
  assert.equal(reply.choices[0].finish_reason, 'tool_calls');
  assert.deepEqual(reply.usage, {
    prompt_tokens: 7,
    completion_tokens: 3,
    total_tokens: 10,
    prompt_tokens_details: { cached_tokens: 2 },
  });
});

test('a stream splits arguments over several events and sends usage on request', async () => {
  const { post } = await serve('- call: [{write_file: {path: notes.md, text: a longer text}}]');
  const events = (text: string) =>
    text
      .split('\n\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)));
  const plain = events(await (await post({ ...hello, stream: true })).text());
  const parts = plain
    .flatMap((event) => event.choices[0]?.delta.tool_calls ?? [])
    .map((call) => call.function.arguments);
  assert.ok(parts.length >= 3);
  assert.deepEqual(JSON.parse(parts.join('')), { path: 'notes.md', text: 'a longer text' });
  assert.ok(plain.every((event) => event.usage === undefined));
  const counted = events(
    await (await post({ ...hello, stream: true, stream_options: { include_usage: true } })).text(),
  );
  assert.ok(counted.at(-1).usage.completion_tokens > 0);
});

test('the agent is the model name after the slash, or a header', async () => {
  const { post } = await serve('- say: "{{agent}} {{task}}"');
  const said = async (headers: Record<string, string>, model: string) =>
    ((await (await post({ ...hello, model }, headers)).json()) as any).choices[0].message.content;
  assert.equal(await said({}, 'scripted/planner'), 'planner http');
  assert.equal(await said({}, 'planner'), 'planner http');
  assert.equal(await said({ 'x-guild-agent': 'ana', 'x-guild-task': 't1' }, 'm'), 'ana t1');
});

test('an invalid request is refused with a reason', async () => {
  const { post, url } = await serve('- say: x');
  const why = async (reply: Response) => [reply.status, ((await reply.json()) as any).error.message] as const;
  assert.match((await why(await post('{nope')))[1], /the body must be a JSON object/);
  assert.deepEqual(await why(await post({ messages: [] })), [
    400,
    'the body must be a JSON object, and "model" a string',
  ]);
  assert.deepEqual(await why(await post({ model: 'm', messages: 'x' })), [
    400,
    '"messages" must be a list of messages',
  ]);
  assert.equal((await fetch(`${url}/elsewhere`)).status, 404);
  assert.equal((await fetch(`${url}/chat/completions`)).status, 405);
  assert.equal((await why(await post('x'.repeat(33 * 1024 * 1024))))[0], 413);
});

test('the server reports its health and its models', async () => {
  const { url } = await serve('- say: x');
  assert.equal((await fetch(url.replace('/v1', '/health'))).status, 200);
  const list = (await (await fetch(`${url}/models`)).json()) as any;
  assert.equal(list.data[0].id, 'scripted');
  assert.deepEqual(await (await fetch(`${url}/models/scripted`)).json(), list.data[0]);
  assert.equal((await fetch(`${url}/models/other`)).status, 404);
  const elsewhere = await fetch(`${url}/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  assert.match(await elsewhere.text(), /--as openai-responses/);
});

test('the server listens on the loopback interface only', async () => {
  const { url } = await serve('- say: x');
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
});

test('a closed connection aborts the call', async () => {
  let [started, ended]: ((request: ModelRequest) => void)[] = [];
  const called = new Promise<ModelRequest>((resolve) => (started = resolve));
  const gone = new Promise<ModelRequest>((resolve) => (ended = resolve));
  const server = await standIns({
    model: {
      call: (request) =>
        new Promise((resolve) => {
          request.signal!.addEventListener('abort', () => {
            ended!(request);
            resolve({ ok: false, failure: { class: 'aborted', message: 'gone' } });
          });
          started!(request);
        }),
    },
  });
  open.push(server);
  const request = http.request(`${server.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  request.on('error', () => undefined);
  request.end(JSON.stringify({ ...hello, stream: true }));
  await called;
  request.destroy();
  assert.equal((await gone).agent, 'planner');
});

test('a second server on the same port fails', async () => {
  const { port } = await serve('- say: x');
  await assert.rejects(standIns({ model: scripted('- say: y'), port }), { code: 'EADDRINUSE' });
});
