/** A failed model call: how to go on is said where somebody has to do something, and nowhere else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Task } from '../../../src/domain/task/task.js';
import { cluster, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';
import { lay } from '../../kit/stories.js';

const agent = (front: string): string => `---\ndescription: x\n${front}\n---\nSpeak.\n`;
const BROKEN = '- {agent: ben, fail: auth, message: the key is wrong}\n- {agent: ann, say: Done.}\n';

async function played(agents: Record<string, string>, script = BROKEN): Promise<(id: string) => Promise<Task>> {
  const disk = simDisk();
  lay(disk, { name: '', agents, tasks: { t: { description: 'Go', to: 'ann' } }, script, results: {}, calls: 0 });
  const proc = cluster(script).start(disk);
  await untilQuiet(proc);
  return async (id) => (await proc.ports.tasks.read(id))!.task;
}

test('an advisor that can be done without: no word of a retry', async () => {
  const read = await played({ ann: agent('advisors: [ben]'), ben: agent('tools: []') });
  assert.equal((await read('t')).result, 'Done.');
  const { error } = await read('t.advisor-ben');
  assert.equal(error?.code, 'model_failed');
  assert.equal(error?.hint, undefined);
});

test('nor for what such an advisor asked for itself', async () => {
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

test('an advisor that is required, and the work itself: both say how to go on', async () => {
  const required = await played({ ann: agent('advisors: [{agent: ben, required: true}]'), ben: agent('tools: []') });
  assert.equal((await required('t.advisor-ben')).error?.hint, 'when that is mended: guild task retry t');
  assert.equal((await required('t')).error?.code, 'dependency_failed');
  const alone = await played({ ann: agent('tools: []') }, '- {agent: ann, fail: auth, message: the key is wrong}\n');
  assert.equal((await alone('t')).error?.hint, 'when that is mended: guild task retry t');
});
