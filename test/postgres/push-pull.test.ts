/** A workspace goes into a store and comes back as a plain folder with the same bytes. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { workFiles } from '../../src/adapters/definitions/state-files.js';
import { place, scripted, succeeds, type Place } from '../kit/guild.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { until } from '../kit/until.js';
import { field } from './bench.js';
import { sampleTests } from '../kit/sample.js';

const test = sampleTests('postgres/push-pull', 3);

const options = { skip: NO_POSTGRES };
const SCRIPT = `- {agent: ana, turn: 1, call: [{read_file: {path: "context/house rules.md"}}]}
- {agent: ana, turn: 2, say: "done: {{task}}"}
- {agent: asks, turn: 1, call: [{execute_command: {command: "touch x"}}]}
- {agent: asks, turn: 2, say: "asked and answered"}
`;
const FILES = scripted(SCRIPT, {
  'agents/ana.md': '---\ndescription: Reads\ntools: [read_file]\n---\nWrite.\n',
  'agents/asks.md': '---\ndescription: Asks\ntools: [execute_command]\n---\nAsk.\n',
  'context/house rules.md': 'Be kind.\r\nNo tabs.\r\n',
  'tasks/week.task.md': '# The week\n\n- [ ] B water the plants @ana\n',
});

/** Work of every kind: done, failed, waiting for a person, and files in a person's own style. */
async function worked(here: Place): Promise<void> {
  succeeds(await here.guild('run', 'ana', 'Write a note'));
  await here.guild('run', 'asks', 'May I?');
  here.put('tasks/pending/later.json', '{ "description": "in my own style",\n    "to": "ana", "mine": [1,  2] }');
  here.put('tasks/pending/after.json', '{"description":"needs a missing one","to":"ana","dependencies":["later"]}\n');
  await here.guild('task', 'cancel', 'after');
  await here.guild('pump');
  const session = fs.readdirSync(path.join(here.root, 'sessions')).find((name) => name.startsWith('ana'))!;
  fs.appendFileSync(path.join(here.root, 'sessions', session), '# a remark of a person\n');
}

function bytesOf(root: string): Record<string, string> {
  const files = workFiles(root).map((file) => [file, fs.readFileSync(path.join(root, file), 'base64')]);
  return Object.fromEntries(files) as Record<string, string>;
}

test('a workspace comes back from the store with the same bytes, and works on', options, async (t) => {
  const { server, schema, end } = await field();
  const store = `${server.url}?schema=${schema}`;
  const here = place(t, FILES);
  await worked(here);
  const before = bytesOf(here.root);
  assert.ok(Object.keys(before).length > 10, Object.keys(before).join(' '));
  const pushed = JSON.parse(succeeds(await here.guild('store', 'push', '--store', store, '--json')).out) as object;
  assert.deepEqual(bytesOf(here.root), before, 'push changes nothing here');
  const target = `${here.root}-back`;
  t.after(() => fs.rmSync(target, { recursive: true, force: true }));
  const pulled = JSON.parse(
    succeeds(await here.guild('store', 'pull', target, '--store', store, '--json')).out,
  ) as object;
  assert.deepEqual(bytesOf(target), before);
  assert.deepEqual({ ...pulled, files: 0 }, { ...pushed, files: 0 });
  for (const file of ['guild.yaml', 'agents/ana.md'])
    assert.equal(fs.readFileSync(path.join(target, file), 'utf8'), fs.readFileSync(path.join(here.root, file), 'utf8'));
  const list = succeeds(await here.guild('task', 'list', '--workspace', target));
  assert.match(list.out, /May I\?/);
  const again = await here.guild('store', 'push', '--store', store);
  assert.match(again.err, /already holds work/);
  const there = await here.guild('store', 'pull', target, '--store', store);
  assert.match(there.err, /already exists/);
  await end();
});

test('push refuses while a process works on the folder, or died in it', options, async (t) => {
  const { server, schema, end } = await field();
  const store = `${server.url}?schema=${schema}`;
  const here = place(t, FILES);
  const watching = here.spawn('watch');
  await watching.says(/watching|waits|work/i);
  here.put('tasks/pending/one.json', '{"description":"one","to":"ana"}');
  await watching.says(/done: one|completed|one/);
  const busy = await here.guild('store', 'push', '--store', store);
  assert.equal(busy.code, 1);
  assert.match(busy.err, /a process still works on this folder \(pid \d+/);
  watching.child.kill('SIGKILL');
  await watching.ended;
  const died = await here.guild('store', 'push', '--store', store);
  assert.equal(died.code, 1, died.out);
  assert.match(died.err, /journal has not been replayed/);
  succeeds(await here.guild('pump'));
  succeeds(await here.guild('store', 'push', '--store', store));
  await end();
});

test('pull refuses while a process works on the store, and works after all were killed', options, async (t) => {
  const { server, schema, end } = await field();
  const store = `${server.url}?schema=${schema}`;
  const here = place(t, { ...FILES, 'guild.yaml': `${FILES['guild.yaml']}coordination: { lease: 2s }\n` });
  const env = { GUILD_STORE: store };
  const watching = here.spawnWith({ env }, 'watch');
  await watching.says(/watching/);
  await until(async () => (await server.sql(`select 1 from ${schema}.entry where key like 'peer/%'`)).length > 0);
  const target = `${here.root}-back`;
  t.after(() => fs.rmSync(target, { recursive: true, force: true }));
  const busy = await here.guild('store', 'pull', target, '--store', store);
  assert.equal(busy.code, 1);
  assert.match(busy.err, /a process still works on this store \(pid \d+/);
  watching.child.kill('SIGKILL');
  await watching.ended;
  succeeds(await here.guild('store', 'pull', target, '--store', store));
  await end();
});

test('store commands say what is missing', options, async (t) => {
  const here = place(t, FILES);
  const { server } = await field();
  assert.match((await here.guild('store', 'init')).err, /no store is named[\s\S]*GUILD_STORE/);
  assert.match((await here.guild('store', 'push', '--store', `${server.url}?schema=none`)).err, /guild store init/);
  assert.match((await here.guild('store')).err, /needs a command/);
  assert.match((await here.guild('store', 'pul', 'x')).err, /pull/);
  assert.match((await here.guild('store', 'pull')).err, /needs a folder/);
  assert.match((await here.guild('store', 'init', '--store', 'postgres://u:p@h/d')).err, /contains a password/);
  const made = succeeds(await here.guild('store', 'init', '--store', `${server.url}?schema=fresh`));
  assert.match(made.out + made.err, /fresh_worker, fresh_desk, fresh_reader/);
  succeeds(await here.guild('store', 'upgrade', '--store', `${server.url}?schema=fresh`));
});
