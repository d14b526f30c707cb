/** `guild doctor --adopt` releases the tasks of a lost process, and nothing else does. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { JOURNAL_VERSION, printLine } from '../../src/adapters/files/journal/frames.js';
import { processes } from '../../src/adapters/processes/index.js';
import { place, scripted, type Place } from '../kit/guild.js';

const PEER = 'lostpeer1';

/** A workspace in which a process that is gone had claimed t1. */
function lost(t: TestContext, files: Record<string, string | Buffer>): Place {
  const workspace = place(t, {
    ...scripted('- {agent: ana, say: Done.}', {}),
    'agents/ana.md': '---\ndescription: Does things\n---\nDo it.\n',
    [`tasks/active/t1_ana-${PEER}.json`]: '{"id": "t1", "description": "do it", "to": "ana"}\n',
  });
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(workspace.root, name)), { recursive: true });
    fs.writeFileSync(path.join(workspace.root, name), text);
  }
  return workspace;
}

test('a journal that cannot be replayed holds its tasks until it is adopted; it is kept with a note', async (t) => {
  const journal = 'this was never a journal\n';
  const workspace = lost(t, { [`.guild/journal/${PEER}.1.log`]: journal });
  await workspace.guild('pump', '--all');
  assert.deepEqual(workspace.list('tasks/active'), [`t1_ana-${PEER}.json`]);
  const found = await workspace.guild('doctor');
  assert.match(found.out.replace(/\s+/g, ' '), /cannot be replayed.* guild doctor --adopt lostpeer1 /);
  const { code, out } = await workspace.guild('doctor', '--adopt', '--json');
  assert.equal(code, 0);
  const { adopted } = JSON.parse(out) as { adopted: { peer: string; why: string; files: string[] }[] };
  assert.deepEqual(
    adopted.map(({ peer, why, files }) => [peer, why, files.length]),
    [[PEER, 'unreadable', 1]],
  );
  const evidence = workspace.list('.guild/evidence');
  assert.equal(evidence.length, 2);
  assert.ok(evidence.includes(`${PEER}.journal.why.md`));
  const kept = evidence.find((name) => !name.endsWith('.md'))!;
  assert.equal(fs.readFileSync(path.join(workspace.root, '.guild/evidence', kept), 'utf8'), journal);
  assert.match((await workspace.guild('doctor')).out, /all can be replayed/);
  assert.equal((await workspace.guild('pump', '--all')).code, 0);
  assert.deepEqual(workspace.list('tasks/completed'), ['t1.json']);
});

test('a process in another container keeps its tasks until it is named; then its journal is replayed', async (t) => {
  const owner = { ...processes().me(), host: 'box', pidNamespace: 'pid:[1]', pid: 7, startTime: '1' };
  const text = '{"id": "t1", "description": "do it", "to": "ana", "result": "from the journal"}\n';
  const lines = Buffer.concat([
    printLine(PEER, 1, { journal: JOURNAL_VERSION, peer: PEER, owner, segment: 1 }),
    printLine(PEER, 2, { puts: [{ task: 't1', state: 'completed', text }] }),
  ]);
  const peer = { id: PEER, ...owner, agents: [], since: '2026-01-01T00:00:00.000Z' };
  const workspace = lost(t, {
    [`.guild/journal/${PEER}.1.log`]: lines,
    [`agents/live/${PEER}.json`]: JSON.stringify(peer),
  });
  const isHeld = (): void => {
    assert.deepEqual(workspace.list('tasks/active'), [`t1_ana-${PEER}.json`]);
    assert.deepEqual(workspace.list('.guild/journal'), [`${PEER}.1.log`]);
  };
  await workspace.guild('pump', '--all');
  isHeld();
  assert.match((await workspace.guild('doctor')).out.replace(/\s+/g, ' '), /pid 7 on box.* --adopt lostpeer1 /);
  assert.deepEqual(JSON.parse((await workspace.guild('doctor', '--adopt', '--json')).out), { adopted: [] });
  isHeld();
  assert.equal((await workspace.guild('doctor', '--adopt', 'another')).code, 1);
  assert.equal((await workspace.guild('doctor', PEER)).code, 2);
  isHeld();
  assert.equal((await workspace.guild('doctor', '--adopt', PEER)).code, 0);
  await workspace.guild('pump', '--all');
  const ended = fs.readFileSync(path.join(workspace.root, 'tasks/completed/t1.json'), 'utf8');
  assert.match(ended, /from the journal/);
  assert.deepEqual(workspace.list('tasks/active'), []);
  assert.deepEqual(
    workspace.list('.guild/journal').filter((name) => name.startsWith(PEER)),
    [],
  );
});
