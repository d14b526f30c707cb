/** Other processes never see a waiting task before the children it waits for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { files } from '../../../src/adapters/files/index.js';
import { makeChild } from '../../../src/domain/task/task.js';
import { simClock } from '../../kit/sim-clock.js';
import { simDisk } from '../../kit/sim-disk.js';
import { countedIds, simProcesses } from '../../kit/sim-processes.js';

for (const verb of ['park', 'release'] as const) {
  test(`children that move while their parent is put back (${verb}) have a name before it has`, async () => {
    const disk = simDisk();
    const [processes, ids, clock] = [simProcesses(), countedIds(), simClock()];
    const seen: string[][] = [];
    const parts = (): string[] =>
      ['pending', 'active', 'completed'].flatMap((state) =>
        disk.list(`/w/tasks/${state}`).filter((name) => name.startsWith('t.')),
      );
    const watched = {
      ...disk,
      rename(from: string, to: string): boolean {
        const isBack = /\/(pending|waiting)\/t\.json$/.test(to);
        if (isBack) seen.push(parts().sort());
        return disk.rename(from, to);
      },
    };
    // Files are written only because a caller waits for them, not after a delay.
    const store = files({ root: '/w', disk: watched, clock, ids, processes: processes.start(), lag: () => undefined });
    disk.save('/w/tasks/pending/t.json', '{"description": "do it"}');
    await store.tasks.scan(true);
    const claim = (await store.tasks.claim('t', 'ana'))!;
    const at = clock.now().toISOString();
    for (const name of ['a', 'b'])
      await store.tasks.create(
        makeChild(claim.task, { id: `t.${name}`, role: 'work', to: 'ana', description: name }, at),
        {
          durable: false,
        },
      );
    const back = store.tasks[verb](claim, { ...claim.task, to: 'ana' });
    await store.tasks.claim('t.a', 'ana');
    const b = (await store.tasks.claim('t.b', 'ana'))!;
    await store.tasks.settle(b, { ...b.task, result: 'done' }, 'completed', { durable: false });
    assert.equal(await back, true);
    assert.deepEqual(seen, [[`t.a_ana-${store.presence.peer.id}.json`, 't.b.json']]);
  });
}
