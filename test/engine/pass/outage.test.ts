/** A queue of tasks while the provider of their model refuses every call. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INTERVALS } from '../../../src/domain/intervals.js';
import { cluster, ROOT, untilQuiet } from '../../kit/cluster.js';
import { simDisk } from '../../kit/sim-disk.js';

const TASKS = ['a', 'b', 'c', 'd', 'e'];

test('a queue outlives a rejected key: tasks wait, one at a time tries again, and an answer frees the others', async () => {
  const disk = simDisk();
  for (const folder of ['agents', 'tasks/pending']) disk.makeFolder(`${ROOT}/${folder}`);
  disk.save(`${ROOT}/agents/ana.md`, '---\ndescription: Answers\n---\nWork.\n');
  disk.save(`${ROOT}/guild.yaml`, 'limits: {parallel: 2}\n');
  for (const id of TASKS) disk.save(`${ROOT}/tasks/pending/${id}.json`, '{"description": "x", "to": "ana"}');
  const script = '- {agent: ana, times: 3, fail: auth, message: no}\n- {agent: ana, say: Done.}\n';
  const { ports, ...proc } = cluster(script).start(disk);
  const counts = (): number[] => ['failed', 'completed', 'pending'].map((s) => disk.list(`${ROOT}/tasks/${s}`).length);
  const { due } = await untilQuiet({ ports, ...proc });
  assert.deepEqual(counts(), [2, 0, 3], 'the tasks that were under way fail');
  assert.equal(due, ports.clock.now().getTime() + INTERVALS.refusedModelMs);
  await ports.clock.sleep(INTERVALS.refusedModelMs);
  await untilQuiet({ ports, ...proc });
  assert.deepEqual(counts(), [3, 0, 2], 'one task has tried again');
  await ports.clock.sleep(INTERVALS.refusedModelMs);
  await untilQuiet({ ports, ...proc });
  assert.deepEqual(counts(), [3, 2, 0]);
});
