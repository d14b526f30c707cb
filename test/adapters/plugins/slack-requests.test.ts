/** Questions and approvals over Slack: posted to the person, answered by a reply in the thread. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { removeFolder, tempFolder } from '../../kit/temp/folder.js';
import { openWorkspace, type Workspace } from '../../../src/app/index.js';
import { slackServer, type SlackServer } from '../../kit/slack-server.js';
import { trust } from '../../kit/trust/state.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('adapters/plugins/slack-requests', 3);

const OWNER = 'U0OWNER01';
const STRANGER = 'U0STRANG1';
const CHANNEL = 'D01234567';

interface Office {
  root: string;
  server: SlackServer;
  workspace: Workspace;
  problems: string[];
  /** The texts that were posted, with their threads. */
  posted(): { text: string; thread: string | undefined }[];
  /** A reply in the thread of the nth request. */
  reply(text: string, user?: string, ts?: string): Promise<void>;
  stop(): Promise<void>;
}

async function office(t: TestContext, script: string, settings = `requests: {to: ${CHANNEL}, from: [${OWNER}]}`) {
  const root = tempFolder('slack-ask');
  const server = await slackServer();
  fs.mkdirSync(path.join(root, 'agents'));
  fs.mkdirSync(path.join(root, 'tasks'));
  const config = `model: demo/x\nproviders: {demo: {kind: scripted}}\nplugins: {slack: {${settings}}}\ngit: false\n`;
  fs.writeFileSync(path.join(root, 'guild.yaml'), config);
  fs.writeFileSync(path.join(root, 'script.yaml'), script);
  const tools = 'ask_human, write_file, execute_command, read_file';
  fs.writeFileSync(path.join(root, 'agents/boss.md'), `---\ndescription: Asks\ntools: [${tools}]\n---\nAsk.\n`);
  trust(root);
  const here = await start(t, root, server);
  t.after(() => server.close());
  t.after(() => removeFolder(root));
  return here;
}

async function start(t: TestContext, root: string, server: SlackServer): Promise<Office> {
  const env = { SLACK_BOT_TOKEN: 'xoxb-test', SLACK_APP_TOKEN: 'xapp-test', SLACK_API_URL: server.url };
  const problems: string[] = [];
  const workspace = await openWorkspace(root, {
    env: { ...process.env, ...env },
    watchers: { problem: ({ message }) => problems.push(message) },
  });
  const abort = new AbortController();
  const watching = workspace.watch(abort.signal);
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    abort.abort();
    await watching;
    await workspace.close();
  };
  t.after(stop);
  await server.connected();
  let sequence = 0;
  return {
    root,
    server,
    workspace,
    problems,
    posted: () =>
      server.calls
        .filter(({ method }) => method === 'chat.postMessage')
        .map(({ args }) => ({ text: args['text']!, thread: args['thread_ts'] })),
    reply: (text, user = OWNER, ts = '1700000000.000100') =>
      server.event({ type: 'message', user, channel: CHANNEL, ts: `1800000000.${++sequence}`, thread_ts: ts, text }),
    stop,
  };
}

const finished = (workspace: Workspace, id: string): Promise<string> =>
  until(async () => (await workspace.task(id))?.task.result);

test('a question is posted, a wrong choice is asked again, and the answer goes back to the agent', async (t) => {
  const script = `- {agent: boss, turn: 1, call: [{ask_human: {question: "Which <version>?", choices: ["1.0", "1.1"]}}]}
- {agent: boss, say: "It is {{last}}"}
`;
  const here = await office(t, script);
  const { id } = await here.workspace.add({ description: 'ask', to: 'boss' });
  await until(() => here.posted().length === 1);
  const [asked] = here.posted();
  assert.match(asked!.text, /boss asks you[\s\S]*Which &lt;version&gt;\?[\s\S]*- 1\.0\n- 1\.1/);
  await here.reply('2.0');
  assert.match(here.posted()[1]!.text, /Nothing was answered: "2\.0" is not one of the choices/);
  assert.equal(here.posted()[1]!.thread, '1700000000.000100');
  await here.reply('1.1');
  assert.match(await finished(here.workspace, id), /1\.1/);
  await here.reply('1.0');
  assert.match(here.posted().at(-1)!.text, /Nothing was answered: .*already answered/);
  assert.equal(fs.existsSync(path.join(here.root, 'inbox/slack-messages.jsonl')), false, 'answers are not messages');
});

test('only the people in guild.yaml answer, and a risky action needs the code that was shown', async (t) => {
  const script = `- {agent: boss, turn: 1, call: [{execute_command: {command: "bash build.sh"}}]}
- {agent: boss, say: "done: {{last}}"}
`;
  const here = await office(t, script);
  const { id } = await here.workspace.add({ description: 'build', to: 'boss' });
  await until(() => here.posted().length === 1);
  const { text } = here.posted()[0]!;
  assert.match(text, /needs your approval · HIGH risk[\s\S]*bash build\.sh[\s\S]*Asked because:[\s\S]*How it runs:/);
  const [, code] = /Reply in this thread with "(yes [0-9a-f]{6})"/.exec(text) ?? [];
  assert.ok(code, text);
  await here.reply(code, STRANGER);
  assert.match(here.posted()[1]!.text, /Only the people named in guild\.yaml/);
  await here.reply('yes');
  assert.match(here.posted()[2]!.text, /Nothing was answered\. Reply in this thread/);
  await here.reply('no, not today');
  assert.equal(here.posted()[3]!.text, 'Refused.');
  assert.match(await finished(here.workspace, id), /not today/);
});

test('an approval by reply is signed and carried out once, and a restart does not post it again', async (t) => {
  const script = `- {agent: boss, turn: 1, call: [{write_file: {path: memory/x.md, content: "hello"}}]}
- {agent: boss, say: done}
`;
  const here = await office(t, script);
  const { id } = await here.workspace.add({ description: 'write', to: 'boss' });
  await until(() => here.posted().length === 1);
  await here.stop();
  const again = await start(t, here.root, here.server);
  await here.server.connected(2);
  await again.reply('yes');
  await finished(again.workspace, id);
  assert.equal(fs.readFileSync(path.join(here.root, 'memory/x.md'), 'utf8'), 'hello');
  const posts = here.posted().map(({ text }) => text);
  assert.deepEqual([posts.length, posts[1]], [2, 'Allowed.']);
  const [approval] = (await again.workspace.endedTasks()).filter(({ task }) => task.to === 'human');
  await again.stop();
  assert.match(approval!.task.result ?? '', /"signature"/);
});

test('a thread that this machine did not show answers nothing: it is a message like any other', async (t) => {
  const script = '- {agent: boss, turn: 1, call: [{ask_human: {question: "Now?"}}]}\n- {say: done}\n';
  const here = await office(t, script);
  await here.workspace.add({ description: 'ask', to: 'boss' });
  await until(() => here.posted().length === 1);
  await here.reply('yes', OWNER, '1600000000.000001');
  const line = fs.readFileSync(path.join(here.root, 'inbox/slack-messages.jsonl'), 'utf8');
  assert.match(line, /"text":"yes"/);
  const open = await here.workspace.openTasks();
  assert.ok(open.some(({ task }) => task.to === 'human'));
});

test('a request that Slack refuses for its rate limit is posted when Slack allows it, without a problem', async (t) => {
  const here = await office(t, '- {agent: boss, turn: 1, call: [{ask_human: {question: "Now?"}}]}\n- {say: done}\n');
  here.server.limits.push(1);
  const { id } = await here.workspace.add({ description: 'ask', to: 'boss' });
  await until(() => here.posted().length === 2);
  here.server.limits.push(1);
  await here.reply('yes');
  await finished(here.workspace, id);
  await until(() => here.posted().length === 4);
  assert.match(here.posted()[3]!.text, /passed on your answer/);
  assert.deepEqual(here.problems, []);
});

test('waiting leaves no listener behind', async () => {
  const { pause } = (await import(path.resolve('plugins/slack/post.mjs'))) as {
    pause(ms: number, signal: AbortSignal): Promise<void>;
  };
  const { signal } = new AbortController();
  for (let n = 0; n < 3; n++) await pause(1, signal);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('settings that name nobody are refused with the key', async (t) => {
  const problems: string[] = [];
  const root = tempFolder('slack-ask', t);
  const { listen } = (await import(path.resolve('plugins/slack/socket.mjs'))) as {
    listen(host: object): Promise<void>;
  };
  const base = { workspace: root, env: { SLACK_APP_TOKEN: 'x' }, report: (text: string) => problems.push(text) };
  for (const [requests, wrong] of [
    [{ to: 'sarah' }, /requests\.to must be the id/],
    [{ to: CHANNEL }, /requests\.from must list/],
    [{ to: CHANNEL, from: [] }, /requests\.from must list/],
  ] as const)
    await assert.rejects(listen({ ...base, config: { requests }, signal: new AbortController().signal }), wrong);
});

test('files of a message are stored under a safe name and never fetched from another host', async (t) => {
  const here = await office(t, '- {say: noted}\n');
  here.server.files.set('a.txt', 'the content');
  const base = here.server.url.replace('/api/', '');
  const message = { type: 'message', subtype: 'file_share', user: OWNER, channel: CHANNEL, text: 'see' };
  const file = { id: 'F1', name: '../../.git/config', url_private_download: `${base}/files/a.txt` };
  const other = { id: 'F2', name: 'b.txt', url_private_download: 'http://localhost:1/b.txt' };
  await here.server.event({ ...message, ts: '1700000000.000001', files: [file, other] });
  const [line] = fs.readFileSync(path.join(here.root, 'inbox/slack-messages.jsonl'), 'utf8').split('\n');
  const { text } = JSON.parse(line!) as { text: string };
  const [, stored] = /\[attached: (inbox\/files\/[0-9a-f]{12}-[\w.-]+), b\.txt\]/.exec(text) ?? [];
  assert.ok(stored, text);
  assert.equal(fs.readFileSync(path.join(here.root, stored), 'utf8'), 'the content');
  const fetched = here.server.calls.find(({ method }) => method.includes('files'));
  assert.equal(fetched?.token, 'xoxb-test');
});
