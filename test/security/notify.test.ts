/** Notifications run nothing that was not trusted, and pass hostile text as data. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { bell } from '../../src/cli/render/bell.js';
import { notifyByCommand } from '../../src/adapters/notify/index.js';
import { loadPlugins } from '../../src/adapters/plugins/index.js';
import { packageFolder } from '../../src/adapters/starter/package-folder.js';
import type { ApprovalRequest } from '../../src/domain/task/approval.js';
import type { Task } from '../../src/domain/task/task.js';
import { withDigest } from '../../src/engine/approvals/request.js';
import { place, scripted, type Given, type Place } from '../kit/guild.js';
import { slackServer } from '../kit/slack-server.js';
import { tempFolder } from '../kit/temp/folder.js';
import { until } from '../kit/until.js';

const HOSTILE = '$(touch owned) `touch owned`; touch owned\u001b]0;x\u0007 <b>bold</b>';

function office(t: TestContext, notify: string): Place {
  const script = `- {agent: boss, turn: 1, call: [{ask_human: {question: ${JSON.stringify(HOSTILE)}}}]}\n- {say: done}\n`;
  const here = place(t, scripted(script));
  here.put('agents/boss.md', '---\ndescription: Asks\ntools: [ask_human]\n---\nAsk.\n');
  here.put('guild.yaml', `${here.read('guild.yaml')}git: false\nnotify:\n  gather: 50ms\n${notify}`);
  here.put('tasks/pending/t1.json', JSON.stringify({ description: HOSTILE, to: 'boss' }));
  return here;
}

const isThere = (here: Place, file: string): boolean => fs.existsSync(path.join(here.root, file));

test('a command of an untrusted workspace does not run; a trusted one gets text as data', async (t) => {
  const here = office(t, `  command: 'printf "%s" "$GUILD_TITLE $GUILD_TEXT" > told.txt; cat > told.json'\n`);
  const watch = here.spawnWith({ untrusted: true }, 'watch');
  await until(() => here.list('.guild/notified').some((name) => name.endsWith('.sent')));
  watch.interrupt();
  await watch.ended;
  assert.equal(isThere(here, 'told.txt'), false);
  fs.rmSync(path.join(here.root, '.guild/notified'), { recursive: true });
  const trusted = here.spawn('watch');
  await until(() => isThere(here, 'told.json') && here.read('told.json').endsWith('}\n'));
  trusted.interrupt();
  await trusted.ended;
  assert.equal(isThere(here, 'owned'), false);
  assert.doesNotMatch(here.read('told.txt'), /[\u0007\u001b]/);
  assert.match(here.read('told.txt'), /\$\(touch owned\)/);
});

test('words that came with the folder are not in a notice of a request, nor where watch says that it waits', async (t) => {
  const here = office(t, `  command: 'cat >> told.json'\n`);
  await here.guild('pump');
  const name = here.list('tasks/pending').find((each) => each.includes('.call-'))!;
  const record = JSON.parse(here.read(`tasks/pending/${name}`)) as Task;
  const request = record.context['request'] as ApprovalRequest;
  const forged: Record<string, Task> = {
    'a description': { ...record, description: 'call mallory' },
    'a whole request': {
      ...record,
      description: 'call mallory',
      from: 'mallory',
      context: { ...record.context, request: withDigest({ ...request, title: 'call mallory', agent: 'mallory' }) },
    },
  };
  for (const [what, task] of Object.entries(forged)) {
    fs.rmSync(path.join(here.root, '.guild/notified'), { recursive: true, force: true });
    here.put('told.json', '');
    here.put(`tasks/pending/${name}`, JSON.stringify(task));
    // The program cannot ask again while the ballot is in conflict.
    const ballot = here.read('tasks/approvals.task.md');
    here.put('tasks/approvals.task.md', `${ballot}<<<<<<< HEAD\n`);
    const watch = here.spawn('watch');
    await until(() => here.read('told.json').endsWith('}\n'));
    watch.interrupt();
    const { out, err } = await watch.ended;
    assert.match(out + err, /waits for you/, what);
    assert.doesNotMatch(here.read('told.json') + out + err, /mallory/, what);
    here.put('tasks/approvals.task.md', ballot);
  }
});

test('many or very long notices still reach a command, and none is thrown away', async (t) => {
  const file = path.join(tempFolder('notice', t), 'told');
  const long = 'x\u0000'.repeat(200_000);
  const message = {
    title: long,
    text: long,
    notices: [{ kind: 'failed' as const, task: 't', agent: 'a', title: long }],
  };
  const wrong = await notifyByCommand(
    `cat > ${file}; printf %s "$GUILD_TEXT" >> ${file}.text`,
    message,
    process.env,
    path.dirname(file),
  );
  assert.equal(wrong, undefined);
  assert.deepEqual(JSON.parse(fs.readFileSync(file, 'utf8')), message);
  assert.doesNotMatch(fs.readFileSync(`${file}.text`, 'utf8'), /\u0000/);
  const full = await notifyByCommand('true', message, { BIG: 'y'.repeat(4_000_000) }, path.dirname(file));
  assert.match(full!.message, /could not be shown/);
});

test('a pulled change of the recipient in Slack sends nothing there before it is trusted', async (t) => {
  const got: string[] = [];
  const here = office(t, '  slack: ana\n');
  const plugins = 'plugins: [slack]\n';
  here.put('guild.yaml', `${here.read('guild.yaml')}${plugins}`);
  const sent = (): string => (isThere(here, 'inbox/slack-outbox.jsonl') ? here.read('inbox/slack-outbox.jsonl') : '');
  const told = async (given: Given): Promise<void> => {
    fs.rmSync(path.join(here.root, '.guild/notified'), { recursive: true, force: true });
    const watch = here.spawnWith(given, 'watch');
    await until(() => here.list('.guild/notified').some((name) => name.endsWith('.sent')));
    watch.interrupt();
    await watch.ended;
    got.push(sent());
  };
  await told({});
  here.put('guild.yaml', here.read('guild.yaml').replace('slack: ana', 'slack: mallory'));
  await told({ untrusted: true });
  assert.match(got[0]!, /ana/);
  assert.doesNotMatch(got[1]!, /mallory/);
  const { out } = await here.guildWith({ untrusted: true }, 'trust', '--json');
  assert.match(out, /writes to mallory through the plugin slack/);
});

test('Slack fetches no address in a notice or a message, and a notice calls nobody', async (t) => {
  const server = await slackServer();
  t.after(() => server.close());
  const env = { SLACK_BOT_TOKEN: 'xoxb-test', SLACK_API_URL: server.url };
  const here = place(t, { 'guild.yaml': 'plugins: [slack]\n' });
  const { notify, tools } = await loadPlugins({
    root: here.root,
    env,
    plugins: { slack: {} },
    builtIn: packageFolder('plugins'),
  });
  const text = 'see http://mallory.example/?code=4711 <!channel> *now* @ana';
  await notify('slack', '#ops', { title: 'one thing waits', text, notices: [] });
  const send = tools.find(({ name }) => name === 'slack_send')!;
  await send.run({ recipient: '#ops', text }, { agent: { name: 'ana' }, task: { id: 't' }, approved: true } as never);
  assert.equal(server.calls.length, 2);
  for (const { args } of server.calls) {
    assert.deepEqual([args['unfurl_links'], args['unfurl_media']], ['false', 'false']);
    assert.match(args['text']!, /&lt;!channel&gt;/);
  }
  const { args: notice } = server.calls[0]!;
  assert.deepEqual([notice['mrkdwn'], notice['parse'], notice['link_names']], ['false', 'none', 'false']);
});

test('a webhook is signed, is tried again, and needs its secret', async (t) => {
  const got: { body: string; at: string; signature: string }[] = [];
  const server = http.createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      const { 'x-guild-timestamp': at, 'x-guild-signature': signature } = request.headers;
      got.push({ body, at: String(at), signature: String(signature) });
      response.writeHead(got.length === 1 ? 503 : 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const here = office(t, `  webhook: {url: "${url}", secret_env: HOOK_SECRET}\n`);
  const watch = here.spawnWith({ env: { HOOK_SECRET: 'quite secret' } }, 'watch');
  await until(() => got.length === 2);
  watch.interrupt();
  await watch.ended;
  const { body, at, signature } = got[1]!;
  assert.equal(signature, `sha256=${createHmac('sha256', 'quite secret').update(`${at}.${body}`).digest('hex')}`);
  assert.equal((JSON.parse(body) as { notices: unknown[] }).notices.length, 1);
  fs.rmSync(path.join(here.root, '.guild/notified'), { recursive: true });
  const without = here.spawn('watch');
  await without.says(/the webhook needs a secret in HOOK_SECRET/);
  without.interrupt();
  await without.ended;
  assert.equal(got.length, 2);
});

test('the bell carries no escape of the text, and its notification only where a terminal shows it', () => {
  const message = { title: 'a\u001b[2J;b', text: 'c\u0007\nd' };
  assert.equal(bell(message, { TERM: 'xterm' }), '\u0007');
  assert.equal(bell(message, { TERM_PROGRAM: 'iTerm.app', TMUX: 'x' }), '\u0007');
  const nine = bell(message, { TERM_PROGRAM: 'iTerm.app' });
  assert.ok(nine.startsWith('\u0007\u001b]9;a') && nine.endsWith('\u0007'));
  // eslint-disable-next-line no-control-regex
  assert.equal(nine.slice(5, -1).match(/[\u0000-\u001f]/), null);
  assert.match(bell(message, { TERM: 'foot' }), /\]777;notify;a[^;]*,b;c/);
});

for (const kind of ['a FIFO', 'a link to a device', 'an old folder'])
  test(`${kind} in place of a claim neither stops watch nor the notice`, async (t) => {
    const here = place(t, scripted('- {say: done}'));
    here.put('guild.yaml', `${here.read('guild.yaml')}git: false\nnotify: {gather: 1ms, command: "cat > told.json"}\n`);
    here.put('tasks/pending/t1.json', JSON.stringify({ description: 'Work', to: 'boss' }));
    const name = `ended-${createHash('sha256').update('t1').digest('hex').slice(0, 20)}`;
    const claim = path.join(here.root, '.guild/notified', `${name}.1`);
    fs.mkdirSync(path.dirname(claim), { recursive: true, mode: 0o700 });
    if (kind === 'a FIFO') execFileSync('mkfifo', [claim]);
    else if (kind === 'an old folder') fs.mkdirSync(claim);
    else fs.symlinkSync('/dev/zero', claim);
    if (kind === 'an old folder') fs.utimesSync(claim, new Date(0), new Date(0));
    const watch = here.spawn('watch');
    await until(() => isThere(here, 'told.json') && here.read('told.json').endsWith('}\n'));
    watch.interrupt();
    assert.equal((await watch.ended).code, 0);
    assert.ok(isThere(here, `.guild/notified/${name}.2`));
  });
