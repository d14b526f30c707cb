/**
 * A server that asks the person in the middle of a call: field by field, across processes,
 * declined, and without running anything twice.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { packageFolder } from '../../../src/adapters/starter/package-folder.js';
import { place, scripted, succeeds, type Place } from '../../kit/guild.js';
import { until } from '../../kit/until.js';
import { sampleTests } from '../../kit/sample.js';

const test = sampleTests('adapters/plugins/elicitation', 3);

const SERVER = path.join(packageFolder('test'), 'kit', 'mcp-server.mjs');
const SCRIPT = `
- {agent: ana, turn: 1, call: [{lab_release: {}}]}
- {agent: ana, turn: 2, say: "It said {{last}}"}
`;

function office(): Record<string, string> {
  const files = scripted(SCRIPT, { 'tasks/pending/t1.json': '{"description": "release it", "to": "ana"}' });
  const command = JSON.stringify([process.execPath, SERVER]);
  const lab = `{command: ${command}, free: [release], env: [STARTS]}`;
  return {
    ...files,
    'guild.yaml': `${files['guild.yaml']}plugins: {mcp: {servers: {lab: ${lab}}}}\n`,
    'agents/ana.md': '---\ndescription: Releases\ntools: [lab_release]\n---\nDo it.\n',
  };
}

interface Open {
  id: string;
  request: { question: { text: string; choices?: string[] } };
}

async function question(workspace: Place): Promise<Open> {
  const { out, err } = await workspace.guild('approve', '--json');
  const [open] = JSON.parse(out) as Open[];
  assert.ok(open, err);
  return open;
}

const result = (workspace: Place): string =>
  (JSON.parse(workspace.read('tasks/completed/t1.json')) as { result: string }).result;

test('each field is a question, and the server gets the answers with their types', async (t) => {
  const workspace = place(t, office());
  const starts = path.join(workspace.root, '..', `${path.basename(workspace.root)}.starts`);
  t.after(() => fs.rmSync(starts, { force: true }));
  const env = { STARTS: starts };
  const watch = workspace.startWith({ env }, 'watch');
  const asked: string[] = [];
  for (const answer of ['stable', 'two', '2', 'yes']) {
    await until(async () => ((await workspace.guild('approve', '--json')).code === 4 ? true : undefined));
    const open = await question(workspace);
    asked.push(open.request.question.text);
    succeeds(await workspace.guild('answer', open.id, answer));
    await until(
      async () => (await workspace.guild('approve', '--json')).out !== JSON.stringify([open]) && isNew(open.id),
    );
  }
  await until(() => workspace.list('tasks/completed').includes('t1.json'));
  watch.interrupt();
  await watch.ended;
  assert.match(result(workspace), /accept \{"channel":"stable","copies":2,"announce":true\}/);
  assert.match(asked[0]!, /^The MCP server lab asks: Release now\? \(1 of 3\)\nChannel$/);
  assert.match(asked[2]!, /"two" is not a whole number\.\nRelease now\? \(2 of 3\)\nCopies: how many/);
  assert.equal(fs.readFileSync(starts, 'utf8').split('release').length - 1, 1, 'the call ran once');

  async function isNew(id: string): Promise<boolean | undefined> {
    const { out } = await workspace.guild('approve', '--json');
    return (JSON.parse(out) as Open[]).every((open) => open.id !== id) || undefined;
  }
});

test('in another process the call starts again and gets the answers so far', async (t) => {
  const workspace = place(t, office());
  for (const answer of ['beta', '1', '(leave out)']) {
    succeeds(await workspace.guild('pump', '--quiet'));
    const { id, request } = await question(workspace);
    if (answer === 'beta') assert.deepEqual(request.question.choices, ['beta', 'stable']);
    succeeds(await workspace.guild('answer', id, answer));
  }
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.match(result(workspace), /accept \{"channel":"beta","copies":1\}/);
});

test('a declined question is declined at the server, too', async (t) => {
  const workspace = place(t, office());
  succeeds(await workspace.guild('pump', '--quiet'));
  const { id } = await question(workspace);
  succeeds(await workspace.guild('reject', id, 'not now'));
  succeeds(await workspace.guild('pump', '--all', '--quiet'));
  assert.match(result(workspace), /decline \{\}/);
});
