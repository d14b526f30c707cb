/** `guild doctor --audit` finds effects that were reported as done and have no record. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { place, scripted, type Place } from '../kit/guild.js';

const SCRIPT = `
- {agent: ana, turn: 1, call: [{write_file: {path: workspaces/ana/a.txt, content: a}}, {read_file: {path: guild.yaml}}]}
- {agent: ana, turn: 2, say: Done.}
`;

async function worked(t: TestContext): Promise<Place> {
  const workspace = place(t, {
    ...scripted(SCRIPT, { 'tasks/pending/t1.json': '{"description": "do it", "to": "ana"}' }),
    'agents/ana.md': '---\ndescription: Does things\ntools: [write_file, read_file]\n---\nDo it.\n',
  });
  assert.equal((await workspace.guild('pump', '--all')).code, 0);
  return workspace;
}

const appendEvent = (workspace: Place, event: object): void => {
  const [day] = workspace.list('events');
  fs.appendFileSync(path.join(workspace.root, 'events', day!), `${JSON.stringify(event)}\n`);
};

test('effects with a record pass the audit', async (t) => {
  const { code, out } = await (await worked(t)).guild('doctor', '--audit');
  assert.equal(code, 0);
  assert.match(out, /1 reported as done, all with a record/);
});

test('a reported effect without a record fails the audit, with task, call and time', async (t) => {
  const workspace = await worked(t);
  const at = '2026-01-02T03:04:05.000Z';
  const event = { at, name: 'tool.ran', task: 't9', agent: 'ana', cause: 'c7', tool: 'execute_command' };
  appendEvent(workspace, { ...event, ok: false });
  appendEvent(workspace, { ...event, tool: 'read_file', ok: true });
  assert.equal((await workspace.guild('doctor', '--audit')).code, 0, 'refused calls and reads need no record');
  appendEvent(workspace, { ...event, ok: true });
  appendEvent(workspace, { ...event, cause: 'c8', tool: 'a_plugin_tool', effect: true, ok: true });
  const { code, out } = await workspace.guild('doctor', '--audit');
  assert.equal(code, 1);
  assert.match(
    out.replace(/\s+/g, ' '),
    /2026-01-02T03:04:05\.000Z execute_command by ana in t9 \(call c7\) was reported/,
  );
  const json = await workspace.guild('doctor', '--audit', '--json');
  assert.equal(json.code, 1);
  assert.deepEqual(JSON.parse(json.out), {
    effects: 3,
    unrecorded: [
      { task: 't9', call: 'c7', tool: 'execute_command', agent: 'ana', at },
      { task: 't9', call: 'c8', tool: 'a_plugin_tool', agent: 'ana', at },
    ],
  });
});

test('the audit finds records that were folded because they are old', async (t) => {
  const workspace = await worked(t);
  const run = path.join(workspace.root, '.guild', 'run');
  const [name] = fs.readdirSync(run);
  const twoDaysAgo = new Date(Date.now() - 2 * 24 * 60 * 60_000);
  fs.utimesSync(path.join(run, name!), twoDaysAgo, twoDaysAgo);
  assert.equal((await workspace.guild('pump')).code, 0);
  assert.deepEqual(fs.readdirSync(run), ['done.jsonl']);
  const { code, out } = await workspace.guild('doctor', '--audit');
  assert.equal(code, 0);
  assert.match(out, /1 reported as done, all with a record/);
});
