/**
 * Several tasks in one conversation. Each finds its own messages, even after races and edits,
 * because a task that cannot see its own answers would ask its model forever.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Message } from '../../../src/domain/session/session.js';
import { cluster, ROOT, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const FILE = path.join(ROOT, 'sessions/ana.session.yaml');

/** Two tasks in turn; `before` runs right before each write to the conversation. */
async function play(before: (messages: readonly Message[], h: ReturnType<typeof start>) => Promise<void> | void) {
  const h = start();
  const { store } = h.proc;
  const append = store.sessions.append;
  store.sessions.append = async (id, messages, options) => {
    assert.ok(h.played.calls.length < 20, 'the model is asked without end');
    await before(messages, h);
    return append(id, messages, options);
  };
  await untilQuiet(h.proc);
  return h;
}

function start() {
  const disk = simDisk();
  const script = '- {agent: ana, task: a, say: one}\n- {agent: ana, task: b, say: two}\n';
  writeStory(disk, {
    name: '',
    agents: { ana: '---\ndescription: Remembers\nsession: shared\n---\nx\n' },
    tasks: { a: { description: 'first word' }, b: { description: 'second word' } },
    script,
    results: {},
    calls: 0,
  });
  const played = cluster(script);
  return { disk, played, proc: played.start(disk) };
}

const said = (h: ReturnType<typeof start>): string => h.disk.tree().get(FILE) ?? '';
const resultOf = (h: ReturnType<typeof start>, id: string): string =>
  (JSON.parse(h.disk.tree().get(`${ROOT}/tasks/completed/${id}.json`)!) as { result: string }).result;

test('a task that starts while the previous one is being closed asks its model once', async () => {
  let races = 0;
  const h = await play(async (messages, { proc }) => {
    if (messages[0]?.task !== undefined && races++ === 0) await proc.ports.sessions.setStatus('ana', 'completed');
  });
  assert.ok(races > 0, 'the race happened');
  assert.equal(h.played.calls.length, 2);
  assert.equal(said(h).match(/second word/g)?.length, 1);
  assert.deepEqual([resultOf(h, 'a'), resultOf(h, 'b')], ['one', 'two']);
});

test('a task whose first message is removed while its model thinks starts over', async () => {
  let edits = 0;
  const h = await play((messages, { disk }) => {
    const text = disk.tree().get(FILE) ?? '';
    const part = text.indexOf('  - role: user', text.indexOf('one'));
    if (messages[0]?.role !== 'assistant' || part < 0 || edits++ > 0) return;
    disk.save(FILE, text.slice(0, part));
  });
  assert.ok(edits > 0, 'the edit happened');
  assert.equal(h.played.calls.length, 3, 'the question is asked once more');
  assert.deepEqual([resultOf(h, 'a'), resultOf(h, 'b')].sort(), ['one', 'two']);
});
