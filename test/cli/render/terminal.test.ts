/**
 * On a terminal our own colours work, escape codes in other text do not, and lines fit the window.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { columnsOf } from '../../../src/cli/render/columns.js';
import { onTerminal, place, scripted, succeeds } from '../../kit/guild.js';

// oxlint-disable-next-line no-control-regex
const bare = (text: string): string => text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '');
const widest = (text: string): number =>
  Math.max(
    ...bare(text)
      .split('\n')
      .map((line) => columnsOf(line)),
  );

const HOSTILE = JSON.stringify({
  description: 'wipe \u001b[2J\u001b[31m it \u202e all \u0007 and more words, many more of them',
});

test('colours are colours, and text from files cannot drive the terminal', async (t) => {
  const { guild, guildWith } = place(t, scripted('- say: ok', { 'tasks/pending/a.json': HOSTILE }));
  for (const command of ['task list', 'task show a', 'state', 'doctor', 'agent list', 'check', 'why a']) {
    const { out } = succeeds(await guildWith(onTerminal(80), ...command.split(' ')));
    assert.ok(!out.includes('\u001b[2J') && !out.includes('\u0007') && !out.includes('\u202e'), command);
    assert.ok(!bare(out).replaceAll('\\u001b[2J\\u001b[31m', '').includes('\\u001b'), `${command}: ${out}`);
    if (command === 'doctor' || command === 'task list') assert.match(out, /\u001b\[3\d/, command);
  }
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }] as Record<string, string>[])
    assert.ok(!(await guildWith(onTerminal(80, { env }), 'doctor')).out.includes('\u001b'));
  assert.ok(!(await guild('doctor')).out.includes('\u001b'), 'not in a pipe');
});

test('tables fit forty columns, and in a pipe nothing is cut', async (t) => {
  const { guild, guildWith } = place(
    t,
    scripted('- say: ok', { 'tasks/pending/a-task-with-a-rather-long-name.json': HOSTILE }),
  );
  for (const command of ['task list', 'agent list', 'state'])
    assert.ok(widest((await guildWith(onTerminal(40), ...command.split(' '))).out) <= 40, command);
  assert.match((await guild('task', 'list')).out, /many more of them$/m);
});

test('an id is never cut: in a narrow window it has its own line, and every command accepts the id in the tree', async (t) => {
  const script = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: "Look around in the folder and tell all"}}]}
- {agent: hand, turn: 1, call: [{write_file: {path: note.md, content: hello}}]}
- {say: Done.}
`;
  const { guild, guildWith } = place(
    t,
    scripted(script, { 'agents/hand.md': '---\ndescription: Helps\ntools: [write_file]\n---\nYou are the hand.\n' }),
  );
  for (const id of ['first-of-these', 'second-of-these'])
    await guild('run', 'boss', 'Look after everything', '--id', id);
  const listed = JSON.parse(succeeds(await guild('task', 'list', '--json')).out) as {
    id: string;
    description: string;
  }[];
  const ids = listed.map((task) => task.id);
  assert.equal(ids.length, 6);
  for (const columns of [30, 40, 50, 60, 80, 120]) {
    const { out } = succeeds(await guildWith(onTerminal(columns), 'task', 'list'));
    const words = bare(out).split(/\s+/);
    for (const id of ids) assert.ok(words.includes(id), `${id} at ${columns}:\n${out}`);
    for (const command of ['state', 'top --once']) {
      const seen = bare((await guildWith(onTerminal(columns, { rows: 200 }), ...command.split(' '))).out);
      for (const id of ids)
        assert.ok(seen.split(/[\s,()]+/).includes(id), `${id} in ${command} at ${columns}:\n${seen}`);
    }
    const explained = bare((await guildWith(onTerminal(columns), 'why', 'first-of-these')).out).split(/\s+/);
    assert.ok(explained.filter((word) => /^first-of-these\.call-\w{10}$/.test(word)).length > 2, explained.join(' '));
    const tree = bare(succeeds(await guildWith(onTerminal(columns), 'task', 'tree', 'first-of-these')).out);
    const short = [...tree.matchAll(/\bcall-\w{10}\b/g)].map(([part]) => part);
    assert.equal(short.length, 2, tree);
    for (const part of short) {
      const shown = JSON.parse(succeeds(await guild('task', 'show', part, '--json')).out) as { id: string };
      assert.ok(shown.id.startsWith('first-of-these.') && shown.id.endsWith(`.${part}`));
    }
  }
  const question = ids.find((id) => /^first.*\..*\./.test(id))!;
  const end = question.slice(question.lastIndexOf('.') + 1);
  for (const command of ['why', 'graph', 'task tree', 'reject', 'task cancel'])
    succeeds(await guild(...command.split(' '), end));
});

test('the costs in a tree add up as displayed, in a window of any width', async (t) => {
  const files = {
    'agents/boss.md': '---\ndescription: Leads\nteam: {members: [ann, bob], maxRounds: 1}\n---\nYou lead.\n',
    'agents/ann.md': '---\ndescription: A\n---\nYou are Ann.\n',
    'agents/bob.md': '---\ndescription: B\nhandoff: ann\n---\nYou are Bob.\n',
    'guild.yaml': `model: demo/m\nproviders: {demo: {kind: scripted, script: script.yaml}}\nprices: {demo/m: {input: 0.37, output: 1.13}}\n`,
  };
  const { guild, guildWith } = place(t, scripted('- say: ok', files));
  succeeds(await guild('run', 'boss', 'Look after everything', '--id', 'top'));
  const parts = {
    top: ['member-ann-1', 'member-bob-1', 'top.work'],
    'member-bob-1': ['member-bob-1.work', 'handoff-ann'],
  };
  for (const columns of [30, 40, 60, 100, 200]) {
    const out = bare(succeeds(await guildWith(onTerminal(columns), 'task', 'tree', 'top')).out);
    const cost = (id: string): number => {
      const from = out.search(new RegExp(`(^|[ .\\n])${id.replaceAll('.', '\\.')}($|[ \\n])`, 'm'));
      assert.ok(from >= 0, `${id} at ${columns}:\n${out}`);
      return Math.round(Number(/\$(\d+\.\d+)/.exec(out.slice(from))![1]) * 1e6);
    };
    for (const [id, under] of Object.entries(parts))
      assert.equal(
        under.reduce((sum, part) => sum + cost(part), 0),
        cost(id),
        `${id} at ${columns}:\n${out}`,
      );
    assert.match(
      out.replaceAll(/\s+/g, ' '),
      /top round 1: [\d,]+ tokens sent, [\d,]+ if every member were sent everything/,
    );
  }
});

test('an ambiguous short id is refused with the matching tasks', async (t) => {
  const files = Object.fromEntries(
    ['a.same', 'b.same'].map((id) => [`tasks/pending/${id}.json`, '{"description":"x"}']),
  );
  const { guild } = place(t, scripted('- say: ok', files));
  for (const command of [
    ['task', 'show', 'same'],
    ['task', 'cancel', '.same'],
  ]) {
    const ran = await guild(...command);
    assert.equal(ran.code, 2);
    assert.match(ran.err, /2 tasks end in \.?same\n {2}type more of the id: a\.same, b\.same\n/);
  }
  assert.match(succeeds(await guild('task', 'show', 'a.same')).out, /^a\.same /);
});

test('rows of every kind fit forty columns, with letters of any width; a pipe gets them uncut', async (t) => {
  const request = `${'请把这个很长的标题翻译成英文'.repeat(3)} 🙂🙂🙂 and the end of it`;
  const script = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: "${request}"}}]}
- {say: Done.}
`;
  const id = 'a-task-with-a-rather-long-name-of-its-own';
  const { guild, guildWith, put } = place(t, scripted(script));
  succeeds(await guild('run', 'boss', request, '--id', id));
  put('inbox/slack.jsonl', `${JSON.stringify({ from: 'ann', channel: `#${'long'.repeat(10)}`, text: request })}\n`);
  put('tasks/pending/wide.json', JSON.stringify({ description: request, dependencies: ['never'] }));
  const ROWS = [
    'task list --all',
    `task tree ${id}`,
    `graph ${id}`,
    'cost',
    'cost --by task',
    'log --full',
    'inbox list',
  ];
  for (const command of [...ROWS, 'state', 'top --once']) {
    const { out } = succeeds(await guildWith(onTerminal(40), ...command.split(' ')));
    // An id that is wider than the window gets its own line, uncut.
    const others = bare(out)
      .split('\n')
      .filter((line) => !/^a-task-with-[\w.-]+$/.test(line));
    assert.ok(widest(others.join('\n')) <= 40, `${command}:\n${out}`);
    assert.ok(out.length > 20 && !out.includes('\ufffd'), command);
  }
  for (const command of [...ROWS.filter((command) => command !== 'cost'), 'state']) {
    const { out } = succeeds(await guild(...command.split(' ')));
    assert.doesNotMatch(out, /…$/m, command);
    if (/tree|graph|inbox/.test(command)) assert.match(out, /and the end of it/, command);
  }
  assert.match((await guildWith(onTerminal(40), 'cost')).out, /tokens +\$0\.0000/, 'what matters most stays');
});

test('the live view uses one row per task, however narrow the window', async (t) => {
  const script = `
- {agent: boss, turn: 1, call: [{delegate_to_agent: {agent: hand, task: Look}}]}
- {agent: hand, pace: 30ms, say: "one two three four five six seven eight nine ten eleven twelve"}
- {agent: boss, say: Done}
`;
  const workspace = place(t, scripted(script, { 'tasks/pending/a-task-with-a-rather-long-name.json': HOSTILE }));
  const watch = workspace.startWith(onTerminal(40), 'watch');
  await watch.says(/results\/a-task-with-a-rather-long-name\.md/);
  watch.interrupt();
  const { code, err } = await watch.ended;
  assert.equal(code, 0);
  // A frame: rows between "do not wrap" and "wrap again". It is erased from its first row.
  // oxlint-disable-next-line no-control-regex
  const steps = [...err.matchAll(/\r(?:\u001b\[(\d+)A)?\u001b\[0J|\u001b\[\?7l([^]*?)\u001b\[\?7h/g)];
  const frames = steps.flatMap(([, , text]) => (text === undefined ? [] : [text]));
  assert.ok(frames.length > 3);
  let rows = 0;
  for (const [, up, text] of steps) {
    if (text === undefined)
      assert.equal(Number(up ?? 0), Math.max(0, rows - 1), 'as many rows are cleared as were drawn');
    rows = text?.split('\n').length ?? 0;
    assert.ok(widest(text ?? '') < 40, text);
  }
  assert.ok(
    frames.some((text) => /eight|nine|ten|eleven|twelve/.test(bare(text))),
    'the end of a streamed answer is seen',
  );
});

test('a closed pipe ends the command quietly', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 300 }, (_, i) => [`tasks/pending/t${i}.json`, `{"description": "${'word '.repeat(100)}"}`]),
  );
  const { root } = place(t, scripted('- say: ok', many));
  const main = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../src/cli/main.js');
  const code = `process.exitCode = await (await import(${JSON.stringify(main)})).main(['task', 'list', '--limit', '300'])`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: root });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdout.once('data', () => child.stdout.destroy());
  const exit = await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(exit, 0, err);
  assert.doesNotMatch(err, /EPIPE/);
});
