/** A failed model call has a hint to retry only if a person must act. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { writeStory } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: x\n${front}\n---\nSpeak.\n`;
const BROKEN = '- {agent: ben, fail: auth, message: the key is wrong}\n- {agent: ann, say: Done.}\n';

async function played(agents: Record<string, string>, script = BROKEN): Promise<(id: string) => Promise<Task>> {
  const disk = simDisk();
  writeStory(disk, { name: '', agents, tasks: { t: { description: 'Go', to: 'ann' } }, script, results: {}, calls: 0 });
  const proc = cluster(script).start(disk);
  await untilQuiet(proc);
  return async (id) => (await proc.ports.tasks.read(id))!.task;
}

test('the failure of an optional advisor has no hint to retry', async () => {
  const read = await played({ ann: agent('advisors: [ben]'), ben: agent('tools: []') });
  assert.equal((await read('t')).result, 'Done.');
  const { error } = await read('t.advisor-ben');
  assert.equal(error?.code, 'model_failed');
  assert.equal(error?.hint, undefined);
});

test('failures under an optional advisor have no hint either', async () => {
  const read = await played(
    {
      ann: agent('advisors: [cyd]'),
      cyd: agent('handoff: ann2'),
      ben: agent('tools: []'),
      ann2: agent('tools: []'),
    },
    '- {agent: cyd, fail: auth, message: the key is wrong}\n- {agent: ann, say: Done.}\n',
  );
  assert.equal((await read('t.advisor-cyd.work')).error?.hint, undefined);
  assert.equal((await read('t.advisor-cyd')).error?.hint, undefined);
});

test('failures of a required advisor and of the work itself say how to retry', async () => {
  const required = await played({ ann: agent('advisors: [{agent: ben, required: true}]'), ben: agent('tools: []') });
  assert.equal((await required('t.advisor-ben')).error?.hint, 'fix this, then run: guild task retry t');
  assert.equal((await required('t')).error?.code, 'dependency_failed');
  const alone = await played({ ann: agent('tools: []') }, '- {agent: ann, fail: auth, message: the key is wrong}\n');
  assert.equal((await alone('t')).error?.hint, 'fix this, then run: guild task retry t');
});
