/**
 * Every story on the far store, with the process cut off at commit N, for every N: the ledger
 * carries the commit out and its answer is lost, or it never arrives. The process starts again
 * under a new name, and the story ends the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asProblem } from '../../src/domain/problem.js';
import { play } from '../kit/cluster.js';
import { farCluster } from '../kit/far/cluster.js';
import { outcome } from '../kit/outcome.js';
import { sampleNumbers, sampleOf } from '../kit/sample.js';
import { seeded } from '../kit/sim-processes.js';
import { STORIES, type Story } from '../kit/stories.js';

for (const given of sampleOf('far stories that die', STORIES, 7)) {
  for (const isCarriedOut of [true, false]) {
    const what = isCarriedOut ? 'the answer of any commit is lost' : 'any commit never arrives';
    test(`${given.name}: ends the same if ${what}`, async () => {
      for (const commit of sampleNumbers(`far ${what} ${given.name}`, 30))
        if (!(await cutAt(given, commit, isCarriedOut))) return;
    });
  }
}

/** False if the story has fewer commits. */
async function cutAt(given: Story, commit: number, isCarriedOut: boolean): Promise<boolean> {
  const farm = farCluster(given, seeded(commit));
  const label = `commit ${commit}`;
  const first = farm.start({ cutAt: { commit, isCarriedOut } });
  const thrown = await play(first, farm.story, farm.disk).then(
    () => undefined,
    (error: unknown) => error,
  );
  first.die();
  if (thrown !== undefined) assert.equal(asProblem(thrown).code, 'store_away', label);
  const second = farm.start({ abandoned: new Set([first.store.presence.peer.id]) });
  await second.store.presence.join();
  await play(second, farm.story, farm.disk);
  await second.store.flush();
  farm.reflect();
  assert.deepEqual(outcome(farm.disk, farm.story), [], label);
  const most = farm.story.calls + 2 + (farm.story.slack ?? 0);
  assert.ok(farm.procs.calls.length <= most, `${label}: ${farm.procs.calls.length} model calls, at most ${most}`);
  return first.peer.commits() >= commit;
}
