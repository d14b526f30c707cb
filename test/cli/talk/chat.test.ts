/** `guild chat` on a real terminal: streaming, typing meanwhile, questions, Ctrl-C and kill -9. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { tempFolder } from '../../kit/temp/folder.js';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { KEYS, pty, settled, SIZES } from '../../kit/pty.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/talk/chat', 3);

function office(): Record<string, string> {
  return {
    ...scripted(`
- {agent: ana, when: /go on/, say: "You said: go on."}
- {agent: ana, turn: 1, when: /slowly/, wait: 30m, say: late}
- {agent: ana, when: /colour/, turn: 1, call: [{ask_human: {question: Which colour?}}]}
- {agent: ana, when: /blue/, say: "Blue it is."}
- {agent: ana, when: /pick/, turn: 1, call: [{ask_human: {question: Which?, choices: [red, green, blue], default: green}}]}
- {agent: ana, when: /write/, turn: 1, call: [{write_file: {path: A.md, content: alpha}}]}
- {agent: ana, say: "You said: {{last}}. It is a long answer with many words, so that it does not fit in one row."}
- {agent: ben, say: "Ben here."}
`),
    'agents/ana.md': '---\ndescription: Talks\ntools: [ask_human, write_file]\n---\nTalk.\n',
    'agents/ben.md': '---\ndescription: Talks too\n---\nTalk.\n',
  };
}

const sessions = (workspace: Place): string[] => workspace.list('sessions').sort();

/** Waits for the end of a turn: text that is typed before it belongs to that turn. */
async function hasEnded(workspace: Place, turns: number): Promise<void> {
  const tasks = (): string[] => workspace.list('tasks/completed').filter((name) => !name.includes('.call-'));
  await until(() => tasks().length === turns);
}

for (const size of SIZES)
  test(`a conversation of several turns with two agents, at ${size.columns} by ${size.rows}`, async (t) => {
    const workspace = place(t, office());
    const chat = pty(t, workspace.root, size, 'chat', 'ana');
    await chat.says(/ana> /);
    chat.type(`hello${KEYS.altEnter}world${KEYS.enter}`);
    await chat.says(/You said: hello/);
    await chat.says(/tokens[^]*ana> /);
    await hasEnded(workspace, 1);
    chat.type(`choose a colour${KEYS.enter}`);
    await chat.says(/asks you[^]*Your answer: /);
    await settled();
    chat.type(`blue${KEYS.enter}`);
    await chat.says(/Blue it is\.[^]*tokens[^]*ana> /);
    await hasEnded(workspace, 2);
    chat.type(`@ben hello${KEYS.enter}`);
    await chat.says(/Ben here\.[^]*tokens[^]*ben> /);
    await hasEnded(workspace, 3);
    chat.type(`/why${KEYS.enter}`);
    await chat.says(/completed/);
    chat.type(KEYS.ctrlD);
    assert.equal(await chat.ended, 0);
    assert.equal(sessions(workspace).length, 2, 'one conversation for each agent');
    for (const line of chat.text().split('\n')) assert.ok(line.length <= size.columns, line);
  });

test('a message that is typed while the agent works reaches it, and Ctrl-C stops the turn only', async (t) => {
  const workspace = place(t, office());
  const chat = pty(t, workspace.root, SIZES[0]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(`slowly please${KEYS.enter}`);
  await chat.says(/thinking/);
  chat.type(`no, quickly${KEYS.enter}`);
  await chat.says(/reads it before its next turn/);
  chat.type(KEYS.ctrlC);
  await chat.says(/stopped; your next message continues it/);
  assert.equal(workspace.list('tasks/failed').length, 0);
  chat.type(`go on${KEYS.enter}`);
  await chat.says(/You said: go on/);
  chat.type(KEYS.ctrlD);
  assert.equal(await chat.ended, 0);
  const [session] = sessions(workspace);
  assert.match(workspace.read(`sessions/${session}`), /slowly please[^]*no, quickly[^]*content: .?go on/);
});

test('a killed chat loses nothing, and chat -c continues the conversation', async (t) => {
  const workspace = place(t, office());
  const chat = pty(t, workspace.root, SIZES[0]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(`hello${KEYS.enter}`);
  await chat.says(/You said: hello/);
  await chat.says(/tokens[^]*ana> /);
  await hasEnded(workspace, 1);
  chat.type(`slowly${KEYS.enter}`);
  await chat.says(/thinking/);
  chat.kill();
  await chat.ended;
  const again = pty(t, workspace.root, SIZES[0]!, 'chat', '-c');
  await again.says(/ana> /);
  again.type(`go on${KEYS.enter}`);
  await again.says(/You said: go on/);
  again.type(KEYS.ctrlD);
  assert.equal(await again.ended, 0);
  assert.equal(sessions(workspace).length, 1);
});

test('a pasted image is attached to the first message, a later one and a copy, and a blind model is announced', async (t) => {
  const workspace = place(t, office());
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  const outside = path.join(tempFolder('paste', t), 'photo 1.png');
  fs.writeFileSync(outside, png);
  const chat = pty(t, workspace.root, SIZES[1]!, 'chat', 'ana');
  await chat.says(/ana> /);
  for (const turn of [1, 2]) {
    chat.type(KEYS.paste(`'${outside}'`));
    await chat.says(/context\/photo 1\.png/);
    chat.type(KEYS.enter);
    await chat.says(/cannot see context\/photo 1\.png/);
    await chat.says(/You said: context\/photo 1\.png[^]*tokens[^]*ana> /);
    await hasEnded(workspace, turn);
  }
  chat.type('/fork ');
  chat.type(KEYS.paste(`'${outside}'`));
  await chat.says(/fork context\/photo 1\.png/);
  chat.type(KEYS.enter);
  await chat.says(/forked after 4 messages[^]*tokens[^]*ana> /);
  await hasEnded(workspace, 3);
  chat.type(KEYS.ctrlD);
  await chat.ended;
  assert.ok(fs.readFileSync(path.join(workspace.root, 'context/photo 1.png')).equals(png));
  const files = sessions(workspace).map(
    (name) => workspace.read(`sessions/${name}`).match(/media_type: "image\/png"/g)?.length,
  );
  assert.deepEqual(files, [3, 2], 'the copy has those of the original and its own');
});

test('a choice can be typed in words, and a word that is not on the list is asked again', async (t) => {
  const workspace = place(t, office());
  const chat = pty(t, workspace.root, SIZES[0]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(`pick one${KEYS.enter}`);
  await chat.says(/> 2 green/);
  await settled();
  chat.type(`purple${KEYS.enter}`);
  await chat.says(/“purple” is not one of the choices/);
  chat.type(`bl`);
  await chat.says(/> 3 blue/);
  chat.type(KEYS.enter);
  await chat.says(/answered: blue/);
  await chat.says(/tokens[^]*ana> /);
  chat.type(KEYS.ctrlD);
  assert.equal(await chat.ended, 0);
});

test('words that the person is typing when a request appears do not answer it', async (t) => {
  const workspace = place(t, office());
  const chat = pty(t, workspace.root, SIZES[0]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(`write it${KEYS.enter}`);
  await chat.says(/\? details/);
  await settled();
  chat.type('I would say yes, always');
  await settled();
  assert.deepEqual(workspace.list('tasks/completed'), []);
  chat.type('n');
  await chat.says(/Why not\?/);
  chat.type(`no${KEYS.enter}`);
  await chat.says(/refused: no/);
  await chat.says(/tokens[^]*ana> /);
  chat.type(KEYS.ctrlD);
  assert.equal(await chat.ended, 0);
});

test('Ctrl-C stops a turn that a running watch has taken, keeps the draft, and Enter continues it', async (t) => {
  const workspace = place(t, { ...office(), 'script.yaml': '- {agent: ana, wait: 60s, say: late}\n' });
  const watch = pty(t, workspace.root, SIZES[0]!, 'watch');
  await watch.says(/watching/);
  const chat = pty(t, workspace.root, SIZES[0]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(`hello${KEYS.enter}`);
  await chat.says(/thinking/);
  chat.type('half a mess');
  await chat.says(/half a mess/);
  chat.type(KEYS.ctrlC);
  await chat.says(/stopped; your next message continues it[^]*half a mess/);
  await until(() => workspace.list('tasks/pending').length === 1 && workspace.list('tasks/active').length === 0);
  chat.type(`${KEYS.ctrlC}${KEYS.enter}`);
  await chat.says(/thinking/);
  chat.type(KEYS.ctrlC);
  await chat.says(/stopped/);
  chat.type(KEYS.ctrlD);
  await chat.says(/“hello” is paused; guild chat -c/);
  assert.equal(await chat.ended, 0);
});

test('chat -c shows the last answer; /fork copies, /undo goes back, other words after / are explained', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('run', 'ana', 'good morning', '--quiet'));
  const chat = pty(t, workspace.root, SIZES[1]!, 'chat', '-c');
  await chat.says(/› good morning/);
  await chat.says(/You said: good morning/);
  await chat.says(/ana> /);
  chat.type(`/taks${KEYS.enter}`);
  await chat.says(/there is no \/taks[^]*did you mean "\/tasks"/);
  chat.type(`/etc/hosts is text${KEYS.enter}`);
  await chat.says(/You said: \/etc\/hosts is text[^]*tokens[^]*ana> /);
  await hasEnded(workspace, 2);
  chat.type(`/fork${KEYS.enter}`);
  await chat.says(/your next message to ana continues a copy/);
  chat.type(`in the copy${KEYS.enter}`);
  await chat.says(/forked after 4 messages/);
  await chat.says(/You said: in the copy[^]*tokens[^]*ana> /);
  await hasEnded(workspace, 3);
  assert.equal(sessions(workspace).length, 2);
  const copy = workspace.read(`sessions/${sessions(workspace).find((name) => name.includes('fork_'))}`);
  assert.equal(copy.match(/content: 'in the copy'/g)?.length, 1, 'it is said once');
  // A terminal without bracketed paste types what is pasted. The y came before the question.
  chat.type(`/undo${KEYS.enter}y${KEYS.enter}`);
  await chat.says(/Go back\? y\/N/);
  chat.type(`n${KEYS.enter}`);
  await chat.says(/nothing has changed/);
  chat.type(`/undo${KEYS.enter}`);
  await chat.says(/Go back\? y\/N/);
  chat.type(`y${KEYS.enter}`);
  await chat.says(/done, as commit [0-9a-f]+; \/undo [0-9a-f]+~1 takes it back/);
  await chat.says(/ana> /);
  assert.equal(sessions(workspace).length, 1, 'the copy is gone');
  const [tasks, results] = ['tasks/completed', 'results'].map((folder) => workspace.list(folder).length);
  assert.equal(tasks, results, 'no turn is taken back in part');
  chat.type(`${/\/undo [0-9a-f]+~1/.exec(chat.text())![0]}${KEYS.enter}`);
  await chat.says(/Go back\? y\/N/);
  chat.type(`n${KEYS.enter}`);
  await chat.says(/nothing has changed/);
  chat.type(`after it${KEYS.enter}`);
  await chat.says(/You said: after it[^]*tokens[^]*ana> /);
  chat.type(KEYS.ctrlD);
  assert.equal(await chat.ended, 0);
});

test('an agent goes on while the person talks with another one', async (t) => {
  const workspace = place(t, office());
  const chat = pty(t, workspace.root, SIZES[0]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(`slowly${KEYS.enter}`);
  await chat.says(/thinking/);
  chat.type(`@ben hello${KEYS.enter}`);
  await chat.says(/Ben here\./);
  await chat.says(/ana slowly[^\n]*thinking/);
  chat.type(KEYS.ctrlC);
  await chat.says(/stopped/);
  chat.type(KEYS.ctrlD);
  assert.equal(await chat.ended, 0);
});
