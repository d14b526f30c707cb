/** The store contract and the stories on the far store, over a real PostgreSQL. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clock } from '../../src/adapters/clock/index.js';
import { far } from '../../src/adapters/far/index.js';
import { replay } from '../../src/adapters/far/sessions.js';
import { folders, layout } from '../../src/adapters/files/base/layout.js';
import type { Event } from '../../src/domain/event.js';
import type { Placed } from '../../src/domain/task/task.js';
import type { Ledger } from '../../src/ports/ledger.js';
import type { Bench } from '../contract/store/bench.js';
import { storeContract } from '../contract/store/index.js';
import { cluster, ROOT, untilQuiet } from '../kit/cluster.js';
import { reflect, takingIn } from '../kit/late/cluster.js';
import { outcome } from '../kit/outcome.js';
import { NO_POSTGRES } from '../kit/postgres/server.js';
import { sampleOf } from '../kit/sample.js';
import { simDisk, type SimDisk } from '../kit/sim-disk.js';
import { countedIds, simProcesses } from '../kit/sim-processes.js';
import { STORIES, writeStory, type Story } from '../kit/stories.js';
import { field, type Field } from './bench.js';

const opened: { close(): Promise<void> }[] = [];
after(() => Promise.all(opened.map((each) => each.close().catch(() => undefined))));

if (NO_POSTGRES === false) storeContract('far, on PostgreSQL', async () => bench(await field()));

function bench({ ledger }: Field): Bench {
  const processes = simProcesses();
  const ids = countedIds();
  const outside = ledger();
  opened.push(outside);
  return {
    join() {
      const store = far({ ledger: ledger(), clock: clock(), ids, me: processes.start().me(), lag: queueMicrotask });
      opened.push(store);
      return store;
    },
    async kill(store) {
      const entry = (await outside.get(`peer/${store.presence.peer.id}`))!;
      await outside.commit(`kill-${entry.key}`, {
        puts: [{ key: entry.key, value: entry.value, live: false }],
        adds: [],
      });
    },
    async edit(id, change) {
      const log = `session/${id}`;
      const session = replay((await outside.lines(log)).texts)!;
      const whole = { ...session, messages: change([...session.messages]) };
      await outside.commit(`edit-${Math.random()}`, { puts: [], adds: [{ log, text: JSON.stringify([{ whole }]) }] });
    },
  };
}

for (const given of sampleOf('stories on PostgreSQL', STORIES, 8)) {
  test(`${given.name}: ends the same on PostgreSQL`, { skip: NO_POSTGRES }, async () => {
    const { ledger, end } = await field();
    const disk = simDisk();
    writeStory(disk, given);
    for (const folder of folders(layout(ROOT))) disk.makeFolder(folder);
    const procs = cluster(given.script, given.asks);
    const outside = ledger();
    const proc = procs.start(disk, {
      store({ clock: simulated, ids, agents }) {
        const me = { host: 'sim', bootId: 'sim', pid: 1, startTime: '0' };
        const store = far({ ledger: ledger(), clock: simulated, ids, me, agents, every: () => () => undefined });
        opened.push(store);
        return takingIn(store, disk);
      },
    });
    await play(given, disk, async () => {
      const { due } = await untilQuiet(proc, 400);
      await proc.store.flush();
      reflect(await heldIn(outside), disk);
      return { due, later: (ms) => proc.ports.clock.sleep(ms), now: () => proc.ports.clock.now().getTime() };
    });
    assert.deepEqual(outcome(disk, given), []);
    assert.equal(procs.calls.length, given.calls, 'model calls');
    await outside.close();
    await proc.store.close();
    await end();
  });
}

interface Quiet {
  due: number | undefined;
  later(ms: number): Promise<void>;
  now(): number;
}

/** Until nothing moves, nothing is due and the person of the story has nothing to do. */
async function play(story: Story, disk: SimDisk, work: () => Promise<Quiet>): Promise<void> {
  for (let turns = 0; turns < 20; turns++) {
    const { due, later, now } = await work();
    if (story.human?.(disk) === true) continue;
    if (due === undefined) return;
    await later(Math.max(1, due - now()));
  }
  throw new Error('the human never comes to an end');
}

async function heldIn(ledger: Ledger): Promise<Parameters<typeof reflect>[0]> {
  const { logs } = await ledger.grown(['session/']);
  return {
    rows: (await ledger.list('task/')).map(({ key, value }) => [key.slice(5), JSON.parse(value) as Placed]),
    sessions: await Promise.all(
      logs.map(async (log) => [log.slice(8), replay((await ledger.lines(log)).texts)!] as [string, never]),
    ),
    events: (await ledger.lines('events')).texts.map((text) => JSON.parse(text) as Event),
  };
}
