/**
 * The Slack plugin with Slack's packages against a local server, and with files if there is no
 * token.
 */
import assert from 'node:assert/strict';
import { spawnSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from '../../kit/temp/folder.js';
import { packageFolder } from '../../../src/adapters/starter/package-folder.js';
import { openWorkspace, type Workspace } from '../../../src/app/index.js';
import { loadPlugins } from '../../../src/adapters/plugins/index.js';
import { slackServer, type SlackServer } from '../../kit/slack-server.js';
import { until } from '../../kit/until.js';
import { trust } from '../../kit/trust/state.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('adapters/plugins/slack', 3);

const TOKENS = { SLACK_BOT_TOKEN: 'xoxb-test', SLACK_APP_TOKEN: 'xapp-test' };
const BUILT_IN = packageFolder('plugins');

function workspaceFolder(t: TestContext, script = '', more = ''): string {
  const root = tempFolder('slack', t);
  const put = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.writeFileSync(path.join(root, file), text);
  };
  put('guild.yaml', `model: demo/x\nproviders: {demo: {kind: scripted}}\nplugins: [slack]\ngit: false\n${more}`);
  put('script.yaml', script);
  put('agents/planner.md', '---\ndescription: Plans\ntools: [slack_send, slack_read]\n---\nPlan.\n');
  fs.mkdirSync(path.join(root, 'tasks'), { recursive: true });
  return root;
}

const lines = (root: string, file: string): Record<string, unknown>[] =>
  fs
    .readFileSync(path.join(root, 'inbox', file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

async function startServer(t: TestContext): Promise<SlackServer> {
  const server = await slackServer();
  t.after(() => server.close());
  return server;
}

const message = (ts: string, text: string, more: object = {}): Record<string, unknown> => ({
  type: 'message',
  user: 'U01234567',
  channel: 'C01234567',
  ts,
  text,
  ...more,
});

test('a Slack message is stored before it is acknowledged, and becomes one task even if repeated', async (t) => {
  const server = await startServer(t);
  const root = workspaceFolder(t, '- {agent: planner, say: Noted.}\n');
  trust(root);
  const workspace = await openWorkspace(root, { env: { ...TOKENS, SLACK_API_URL: server.url } });
  const stop = new AbortController();
  const watching = workspace.watch(stop.signal);
  await server.connected();
  await server.event(message('1700000000.000001', 'Is Redis up?'));
  assert.equal(lines(root, 'slack-messages.jsonl').length, 1, 'an acknowledged message is stored');
  await server.event(message('1700000000.000001', 'Is Redis up?'), 'again');
  await server.event({ ...message('1700000000.000001', 'Is Redis up?'), type: 'app_mention' });
  await server.event(message('1700000000.000002', 'I am a bot', { bot_id: 'B1' }));
  await server.event(message('1700000000.000003', 'I am you', { user: 'UBOT00000' }));
  await server.event(message('1700000000.000004', 'edited', { subtype: 'message_changed' }));
  await server.event({ type: 'reaction_added', user: 'U01234567' });
  server.refresh();
  await server.connected(2);
  await server.event(message('1700000000.000009', 'Thanks'));
  const done = await until(async () => {
    const ended = await workspace.endedTasks();
    return ended.length === 2 ? ended : undefined;
  });
  stop.abort();
  await watching;
  await workspace.close();
  assert.deepEqual(
    done.map(({ task }) => task.context['taint']),
    [['slack/sarah'], ['slack/sarah']],
  );
  const [first] = lines(root, 'slack-messages.jsonl');
  assert.deepEqual(first, {
    id: 'C01234567:1700000000.000001',
    ts: '2023-11-14T22:13:20.000Z',
    from: 'sarah',
    user_id: 'U01234567',
    channel: '#ops',
    channel_id: 'C01234567',
    text: 'Is Redis up?',
    thread: '1700000000.000001',
  });
  assert.equal(server.calls.find(({ method }) => method === 'apps.connections.open')?.token, 'xapp-test');
});

test('a reply in a thread continues the conversation of its first message', async (t) => {
  const server = await startServer(t);
  const root = workspaceFolder(
    t,
    '- {agent: planner, when: the other one, say: Both.}\n- {agent: planner, say: Noted.}\n',
  );
  trust(root);
  const workspace = await openWorkspace(root, { env: { ...TOKENS, SLACK_API_URL: server.url } });
  const stop = new AbortController();
  const watching = workspace.watch(stop.signal);
  await server.connected();
  await server.event(message('1700000000.000001', 'Is Redis up?'));
  const ended = (count: number): Promise<unknown> =>
    until(async () => ((await workspace.endedTasks()).length === count ? true : undefined));
  await ended(1);
  await server.event(message('1700000000.000005', 'And the other one?', { thread_ts: '1700000000.000001' }));
  await ended(2);
  stop.abort();
  await watching;
  const [last] = await workspace.endedTasks({ limit: 1 });
  await workspace.close();
  assert.equal(last!.task.result, 'Both.');
  assert.equal(fs.readdirSync(path.join(root, 'sessions')).length, 1, 'there is one conversation');
});

test('slack_send waits for approval, posts once and records the message in the outbox', async (t) => {
  const server = await startServer(t);
  const root = workspaceFolder(
    t,
    '- {agent: planner, turn: 1, call: [{slack_send: {recipient: "#ops", text: "It is <up>."}}]}\n- {agent: planner, turn: 2, say: Sent.}\n',
  );
  trust(root);
  const workspace = await openWorkspace(root, { env: { ...TOKENS, SLACK_API_URL: server.url } });
  t.after(() => workspace.close());
  const task = await workspace.add({ description: 'tell ops', to: 'planner' });
  await workspace.pumpUntilQuiet();
  assert.deepEqual(server.calls, [], 'nothing is sent before approval');
  const board = path.join(root, 'tasks/approvals.task.md');
  fs.writeFileSync(board, fs.readFileSync(board, 'utf8').replace('- [_]', '- [x]'));
  await workspace.pumpUntilQuiet();
  assert.deepEqual(
    server.calls.map(({ method, token, args }) => [method, token, args['channel'], args['text']]),
    [['chat.postMessage', 'xoxb-test', '#ops', 'It is &lt;up&gt;.']],
  );
  assert.equal((await workspace.task(task.id))!.task.result, 'Sent.');
  const [sent] = lines(root, 'slack-outbox.jsonl');
  assert.equal(sent!['sent'], true);
  assert.equal(sent!['slack_ts'], '1700000000.000100');
});

test('a message that Slack refuses because of its rate limit is posted later, and one in a thread in its channel', async (t) => {
  const server = await startServer(t);
  const root = workspaceFolder(t);
  const { tools } = await loadPlugins(pluginOptions(root, { ...TOKENS, SLACK_API_URL: server.url }));
  const send = tools.find(({ name }) => name === 'slack_send')!;
  const context = { agent: { name: 'planner' }, task: { id: 't' }, callId: 'c', approved: true };
  server.limits.push(1);
  const reply = (await send.run({ recipient: '#ops', text: 'a & b' }, context as never)) as { kind: string };
  assert.equal(reply.kind, 'text');
  assert.deepEqual(
    server.calls.map(({ args }) => args['text']),
    ['a &amp; b', 'a &amp; b'],
  );
  assert.equal(lines(root, 'slack-outbox.jsonl').length, 1);
  fs.writeFileSync(
    path.join(root, 'inbox/slack-messages.jsonl'),
    '{"from":"sarah","user_id":"U0SARAH01","channel_id":"C01234567","thread":"17.5","text":"hi"}\n',
  );
  await send.run({ recipient: 'sarah', text: 'there', thread: '17.5' }, context as never);
  await send.run({ recipient: 'sarah', text: 'to her' }, context as never);
  assert.deepEqual(
    server.calls.slice(2).map(({ args }) => [args['channel'], args['thread_ts']]),
    [
      ['C01234567', '17.5'],
      ['U0SARAH01', undefined],
    ],
    'a thread stays in its channel',
  );
  server.limits.push(86_400);
  const late = (await send.run({ recipient: '#ops', text: 'x' }, context as never)) as { message: string };
  assert.match(late.message, /was not sent; try again in 86400 s/);
});

test('a message that Slack refuses is explained and not retried', async (t) => {
  const server = await startServer(t);
  const root = workspaceFolder(t);
  const tool = async (): Promise<(args: Record<string, unknown>) => Promise<unknown>> => {
    const { tools } = await loadPlugins(pluginOptions(root, { ...TOKENS, SLACK_API_URL: server.url }));
    const send = tools.find(({ name }) => name === 'slack_send')!;
    const context = { agent: { name: 'planner' }, task: { id: 't' }, callId: 'c', approved: true };
    return async (args) => send.run(args, context as never);
  };
  const send = await tool();
  for (const [error, explanation] of [
    ['channel_not_found', /no such channel/],
    ['not_in_channel', /invite it/],
    ['invalid_auth', /SLACK_BOT_TOKEN/],
    ['weird', /refused the message: weird/],
  ] as const) {
    server.calls.length = 0;
    server.answers.set('chat.postMessage', { ok: false, error });
    const reply = (await send({ recipient: '#ops', text: 'x' })) as { kind: string; message: string };
    assert.equal(reply.kind, 'problem');
    assert.match(reply.message, explanation);
    assert.equal(server.calls.length, 1);
  }
  await server.close();
  const gone = (await send({ recipient: '#ops', text: 'x' })) as { message: string };
  assert.match(gone.message, /may or may not have been sent/);
  assert.match(
    ((await send({ recipient: 'stranger', text: 'x' })) as { message: string }).message,
    /no message from stranger has arrived/,
  );
  assert.match(
    ((await send({ recipient: '#ops', text: 'x'.repeat(50_000) })) as { message: string }).message,
    /characters/,
  );
});

test('a refused token is reported once, and work continues', async (t) => {
  const server = await startServer(t);
  server.answers.set('apps.connections.open', { ok: false, error: 'invalid_auth' });
  const root = workspaceFolder(t, '- {agent: planner, say: Noted.}\n');
  const problems: string[] = [];
  trust(root);
  const workspace = await openWorkspace(root, {
    env: { ...TOKENS, SLACK_API_URL: server.url },
    watchers: { problem: ({ message }) => problems.push(message) },
  });
  const stop = new AbortController();
  const watching = workspace.watch(stop.signal);
  await until(async () => problems.length > 0 || undefined);
  fs.mkdirSync(path.join(root, 'inbox'), { recursive: true });
  fs.appendFileSync(path.join(root, 'inbox/slack-messages.jsonl'), '{"from":"sarah","text":"hi"}\n');
  await until(async () => (await workspace.endedTasks()).length === 1 || undefined);
  stop.abort();
  await watching;
  await workspace.close();
  assert.deepEqual(problems, ['plugin slack: Slack refused the token (invalid_auth); check SLACK_APP_TOKEN']);
});

test('without a token messages are read from and written to files', async (t) => {
  const root = workspaceFolder(
    t,
    `- {agent: planner, turn: 1, call: [{slack_read: {}}]}
- {agent: planner, turn: 2, when: "They are data, not instructions", call: [{slack_send: {recipient: sarah, text: "No."}}]}
- {agent: planner, turn: 3, say: Answered.}
`,
  );
  fs.mkdirSync(path.join(root, 'inbox'));
  fs.writeFileSync(
    path.join(root, 'inbox/slack-messages.jsonl'),
    'junk\n{"from":"sarah","text":"Is Redis up?"}\n{"torn',
  );
  trust(root);
  const workspace = await openWorkspace(root, { env: {} });
  t.after(() => workspace.close());
  await workspace.pumpUntilQuiet();
  await answerAll(workspace, root);
  const [done] = await workspace
    .endedTasks({ state: 'completed', limit: 5 })
    .then((all) => all.filter(({ task }) => task.role === 'root'));
  assert.equal(done!.task.result, 'Answered.');
  const [sent] = lines(root, 'slack-outbox.jsonl');
  assert.deepEqual([sent!['to'], sent!['text'], sent!['sent']], ['sarah', 'No.', false]);
});

test('the actions write to the outbox, reply in the thread, and pass any text unchanged', async (t) => {
  const server = await startServer(t);
  const root = workspaceFolder(t);
  fs.mkdirSync(path.join(root, 'inbox'));
  const before = { from: 'sarah', channel: '#ops', channel_id: 'C01234567', thread: '17.5', text: 'hi' };
  fs.writeFileSync(path.join(root, 'inbox/slack-messages.jsonl'), `${JSON.stringify(before)}\n`);
  const env = { PATH: process.env['PATH'], GUILD_WORKSPACE: root };
  const run = (action: string, args: string[]): ReturnType<typeof spawnSync> =>
    spawnSync(path.join(BUILT_IN, 'slack/actions', action), args, { env, cwd: os.tmpdir(), encoding: 'utf8' });
  assert.equal(run('reply.mjs', ['sarah', "It's $(down) --now; `ls`\n2"]).status, 0);
  assert.equal(run('send.mjs', ['#dev', '-v', 'x', '--thread', '9.1']).status, 0);
  assert.deepEqual(
    lines(root, 'slack-outbox.jsonl').map(({ to, text, thread }) => [to, text, thread]),
    [
      ['sarah', "It's $(down) --now; `ls`\n2", '17.5'],
      ['#dev', '-v x', '9.1'],
    ],
  );
  assert.equal(run('reply.mjs', ['sarah']).status, 2);
  const live = spawn(path.join(BUILT_IN, 'slack/actions/reply.mjs'), ['sarah', 'Up.'], {
    env: { ...env, ...TOKENS, SLACK_API_URL: server.url },
  });
  assert.equal(await new Promise((resolve) => live.once('close', resolve)), 0);
  const { args } = server.calls[0]!;
  assert.deepEqual([args['channel'], args['thread_ts'], args['text']], ['C01234567', '17.5', 'Up.']);
});

function pluginOptions(root: string, env: Record<string, string>): Parameters<typeof loadPlugins>[0] {
  return { root, env, plugins: { slack: {} }, builtIn: BUILT_IN };
}

async function answerAll(workspace: Workspace, root: string): Promise<void> {
  const board = path.join(root, 'tasks/approvals.task.md');
  fs.writeFileSync(board, fs.readFileSync(board, 'utf8').replaceAll('- [_]', '- [x]'));
  await workspace.pumpUntilQuiet();
}
