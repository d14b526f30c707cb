/** `guild watch` on a real terminal: it asks in place, keeps working, and guards its keys. */
import assert from 'node:assert/strict';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { KEYS, pty, settled, SIZES } from '../../kit/pty.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/talk/watch', 3);

function office(): Record<string, string> {
  return {
    ...scripted(`
- {agent: ana, turn: 1, when: /colour/, call: [{ask_human: {question: "Which colour?", choices: [red, blue]}}]}
- {agent: ana, turn: 1, when: /touch/, call: [{execute_command: {command: "touch a; echo done"}}]}
- {agent: ana, turn: 1, when: /delete/, call: [{execute_command: {command: "rm -rf a"}}]}
- {agent: ana, turn: 1, when: /long/, call: [{write_file: {path: long.txt, content: "${'line\\n'.repeat(120)}"}}]}
- {agent: ana, turn: 2, say: "ended: {{last}}"}
- {agent: ben, wait: 30m, say: late}
`),
    'agents/ana.md': '---\ndescription: Works\ntools: [ask_human, execute_command, write_file]\n---\nDo it.\n',
    'agents/ben.md': '---\ndescription: Thinks\n---\nThink.\n',
  };
}

const completed = (workspace: Place): string[] =>
  workspace.list('tasks/completed').filter((name) => !/call-/.test(name));

async function add(workspace: Place, id: string, text: string, to = 'ana'): Promise<void> {
  succeeds(await workspace.guild('task', 'add', text, '--to', to, '--id', id));
}

for (const size of SIZES)
  test(`watch asks while another task continues, at ${size.columns} by ${size.rows}`, async (t) => {
    const workspace = place(t, office());
    await add(workspace, 'slow', 'think for long', 'ben');
    await add(workspace, 't1', 'touch it');
    const watch = pty(t, workspace.root, size, 'watch');
    await watch.says(/needs your approval/);
    await watch.says(/thinking[^]*\? details/);
    await settled();
    watch.type('y');
    await watch.says(/allowed/);
    await until(() => completed(workspace).includes('t1.json'));
    await add(workspace, 't2', 'choose a colour');
    await watch.says(/asks you[^]*> 1 red/);
    await settled();
    watch.type(KEYS.down + KEYS.enter);
    await until(() => completed(workspace).includes('t2.json'));
    assert.match(workspace.read('results/t2.md'), /blue/);
    watch.type(KEYS.ctrlC);
    await watch.says(/stopping/);
    assert.equal(await watch.ended, 0);
    for (const line of watch.text().split('\n')) assert.ok(line.length <= size.columns, line);
  });

test('keys typed or pasted before the request is drawn do not answer it, and risk needs Enter', async (t) => {
  const workspace = place(t, office());
  const watch = pty(t, workspace.root, SIZES[0]!, 'watch');
  await watch.says(/watching/);
  await settled();
  watch.type(`yyy${KEYS.enter}${KEYS.paste('y\n')}`);
  await add(workspace, 't1', 'delete it');
  await watch.says(/\? details/);
  await settled();
  assert.equal(completed(workspace).length, 0);
  watch.type('y');
  await watch.says(/press Enter to allow it/);
  watch.type('y');
  await watch.says(/\? details/);
  assert.equal(completed(workspace).length, 0);
  watch.type('n');
  await watch.says(/Why not\?/);
  watch.type(`too much${KEYS.enter}`);
  await until(() => completed(workspace).length === 1);
  assert.match(workspace.read('tasks/approvals.task.md'), /reason: too much/);
});

test('a long request is cut, and y needs Enter until all of it was seen', async (t) => {
  const workspace = place(t, office());
  await add(workspace, 't1', 'long file');
  const watch = pty(t, workspace.root, SIZES[0]!, 'watch');
  await watch.says(/more lines; \? shows all of it/);
  await watch.says(/\? details/);
  await settled();
  watch.type('y');
  await watch.says(/You have not seen all of it/);
  watch.type('x?');
  await watch.says(/digest/);
  watch.type('y');
  await until(() => completed(workspace).length === 1);
});

test('an answer from elsewhere ends the question; skipped ones stay; a killed watch asks again', async (t) => {
  const workspace = place(t, office());
  await add(workspace, 't1', 'touch it');
  const watch = pty(t, workspace.root, SIZES[2]!, 'watch');
  await watch.says(/\? details/);
  watch.kill();
  await watch.ended;
  const again = pty(t, workspace.root, SIZES[2]!, 'watch');
  await again.says(/\? details/);
  again.type('s');
  await again.says(/waits for/);
  await add(workspace, 't2', 'choose a colour');
  await again.says(/> 1 red/);
  const inbox = pty(t, workspace.root, SIZES[0]!, 'inbox');
  await inbox.says(/1 of 2[^]*\? details/);
  await settled();
  inbox.type('y');
  await inbox.says(/> 1 red/);
  await settled();
  inbox.type(KEYS.enter);
  await again.says(/it was answered elsewhere/);
  await until(() => completed(workspace).length === 2);
});
