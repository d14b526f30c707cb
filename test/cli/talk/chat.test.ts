/** `guild chat` on a real terminal: streaming, typing meanwhile, questions, Ctrl-C and kill -9. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { tempFolder } from '../../kit/temp/folder.js';
import { place, scripted, type Place } from '../../kit/guild.js';
import { KEYS, pty, SIZES } from '../../kit/pty.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('cli/talk/chat', 3);

function office(): Record<string, string> {
  return {
    ...scripted(`
- {agent: ana, when: /go on/, say: "You said: go on."}
- {agent: ana, turn: 1, when: /slowly/, wait: 60s, say: late}
- {agent: ana, when: /colour/, turn: 1, call: [{ask_human: {question: Which colour?}}]}
- {agent: ana, when: /blue/, say: "Blue it is."}
- {agent: ana, say: "You said: {{last}}. It is a long answer with many words, so that it does not fit in one row."}
- {agent: ben, say: "Ben here."}
`),
    'agents/ana.md': '---\ndescription: Talks\ntools: [ask_human]\n---\nTalk.\n',
    'agents/ben.md': '---\ndescription: Talks too\n---\nTalk.\n',
  };
}

const sessions = (workspace: Place): string[] => workspace.list('sessions').sort();

/** Waits for the end of a turn: text typed before it belongs to that turn. */
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

test('a pasted path becomes a file that the agent can read', async (t) => {
  const workspace = place(t, office());
  const outside = path.join(tempFolder('paste', t), 'photo 1.png');
  fs.writeFileSync(outside, 'png');
  const chat = pty(t, workspace.root, SIZES[1]!, 'chat', 'ana');
  await chat.says(/ana> /);
  chat.type(KEYS.paste(`'${outside}'`));
  await chat.says(/context\/photo 1\.png/);
  chat.type(KEYS.enter);
  await chat.says(/You said: context\/photo 1\.png/);
  await until(() => workspace.read('context/photo 1.png') === 'png');
  chat.type(KEYS.ctrlD);
  await chat.ended;
});
