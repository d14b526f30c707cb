/** An agent asks its human on the ballot and by the command line; some answers do not count. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';

const BALLOT = 'tasks/approvals.task.md';
const ASKS = '{question: "Which version is it?\\nI need it for the tag.", choices: ["1.0", "1.1"], default: "1.0"}';

function office(question = ASKS, more = ''): Record<string, string> {
  return {
    ...scripted(
      `
- {agent: ana, turn: 1, call: [{ask_human: ${question}}]}
- {agent: ana, turn: 2, when: /did not answer/, say: "No answer: {{last}}"}
- {agent: ana, turn: 2, say: "It is {{last}}."}
`,
      { 'tasks/pending/t1.json': '{"description": "release it", "to": "ana"}' },
    ),
    'agents/ana.md': `---\ndescription: Releases\ntools: [ask_human]\n${more}---\nDo it.\n`,
  };
}

const result = (workspace: Place): string =>
  (JSON.parse(workspace.read('tasks/completed/t1.json')) as { result: string }).result;

async function asked(workspace: Place): Promise<string> {
  succeeds(await workspace.guild('pump', '--quiet'));
  const { code, out } = await workspace.guild('approve', '--json');
  assert.equal(code, 4);
  return (JSON.parse(out) as { id: string }[])[0]!.id;
}

test('an answer of the command line reaches the agent, and only one of the choices counts', async (t) => {
  // The agent asks for approval of everything; a question needs none.
  const workspace = place(t, office(ASKS, 'approve: {ask_human: ask}\n'));
  const id = await asked(workspace);
  const { out } = await workspace.guild('approve');
  assert.match(out, /Which version is it\?[^]*I need it for the tag[^]*- 1\.0 \(preselected\)\n\s*- 1\.1/);
  for (const wrong of ['2.0', '', '1']) {
    const ran = await workspace.guild('answer', id, wrong);
    assert.equal(ran.code, 2, ran.err);
  }
  assert.match((await workspace.guild('approve', id)).err, /is a question[^]*guild answer/);
  assert.match((await workspace.guild('edit', id, 'x')).err, /is a question/);
  succeeds(await workspace.guild('pump', '--quiet'));
  assert.equal((await workspace.guild('approve', '--json')).code, 4, 'silence and wrong answers answer nothing');
  succeeds(await workspace.guild('answer', id, '1.1'));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.equal(result(workspace), 'It is 1.1.');
  assert.match(workspace.read(BALLOT), /answer: "1\.1"[^]*fate: done/);
  assert.match((await workspace.guild('why', 't1')).out, /answered by human[^]*1\.1/);
});

test('an answer in words is text, from the arguments or from standard input', async (t) => {
  for (const [typed, stdin] of [
    ['true', ''],
    ['-', 'two\nlines\n'],
  ] as const) {
    const workspace = place(t, office('{question: What shall it be?}'));
    const id = await asked(workspace);
    succeeds(await workspace.guildWith({ input: stdin }, 'answer', id, typed));
    succeeds(await workspace.guild('pump', '--all', '--quiet'));
    assert.equal(result(workspace), `It is ${typed === '-' ? 'two\nlines' : typed}.`);
  }
});

test('on the ballot the preselected answer counts only with a tick, and a wrong one is asked again', async (t) => {
  const workspace = place(t, office());
  const watch = workspace.start('watch');
  const file = path.join(workspace.root, BALLOT);
  const text = (): string => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');
  await until(() => text().includes('answer: 1.0'));
  fs.writeFileSync(file, text().replace('answer: 1.0', 'answer: maybe').replace('- [_]', '- [x]'));
  await watch.says(/"maybe" is not one of the choices: 1\.0, 1\.1/);
  fs.writeFileSync(file, text().replace('answer: maybe', 'answer: 1.1'));
  await until(() => workspace.list('tasks/completed').includes('t1.json'));
  watch.interrupt();
  await watch.ended;
  assert.equal(result(workspace), 'It is 1.1.');
});

test('a person declines to answer, with a reason', async (t) => {
  const workspace = place(t, office());
  const id = await asked(workspace);
  succeeds(await workspace.guild('reject', id, 'ask Ben'));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.match(result(workspace), /No answer: .*did not answer: ask Ben/);
});

test('a question that cannot be asked is returned to the model', async (t) => {
  for (const [question, why] of [
    ['{question: " "}', /question is empty/],
    ['{question: Which?, choices: [one]}', /choices has 1 items/],
    ['{question: Which?, choices: [a, A]}', /the same/],
    ['{question: Which?, choices: [a, b], default: c}', /default: "c" is not one of the choices/],
  ] as const) {
    const workspace = place(t, office(question));
    succeeds(await workspace.guild('pump', '--all', '--quiet'));
    assert.match(result(workspace), why);
  }
});
