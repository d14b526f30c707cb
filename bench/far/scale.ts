/** Many open and ended tasks in PostgreSQL, and how soon another machine sees a change. */
import pg from 'pg';
import { clock, ids } from '../../src/adapters/clock/index.js';
import { far, type FarStore } from '../../src/adapters/far/index.js';
import { readAddress } from '../../src/adapters/ledger/postgres/address.js';
import { postgresLedger } from '../../src/adapters/ledger/postgres/index.js';
import { atMost, atMostOver, figure, median, without, type Bench } from '../harness/rows.js';
import { farPlace, type FarPlace } from './place.js';

const MISSING = 'PostgreSQL is not installed';
const OPEN = 100_000;
const ENDED = 1_000_000;

export const farScale: Bench = {
  name: 'far scale',
  async run(testbed) {
    const place = await farPlace(testbed, '- { agent: ana, turn: 1, say: "done" }\n');
    if (place === undefined) return [without('far: a start', MISSING)];
    try {
      const [open, ended] = [testbed.scale(OPEN, OPEN / 10), testbed.scale(ENDED, ENDED / 10)];
      await fill(place, 'open', open);
      const before = await startMs(place);
      await fill(place, 'ended', ended);
      await place.client.query(`analyze ${place.schema}.entry`);
      const after = await startMs(place);
      const store = storeAt(place);
      await store.tasks.scan();
      const [scans, raws] = [[], []] as [number[], number[]];
      for (let round = 0; round < 200; round++) {
        scans.push(await timed(() => store.tasks.scan()));
        raws.push(await timed(() => place.client.query('select 1')));
      }
      await store.close();
      return [
        atMost(`far: a start beside ${open} open and ${ended} ended tasks`, after, 'ms', 3000),
        figure('far: the same start, next to the one without ended tasks', after, 'ms', before),
        atMostOver('far: a scan with nothing new, over a bare query', median(scans), median(raws), 'ms', 1),
        ...[await noticed(place, testbed.scale(200, 40))],
      ];
    } finally {
      await place.close();
    }
  },
};

/** Rows as the program writes them, made by the server. */
async function fill({ client, schema }: FarPlace, kind: 'open' | 'ended', count: number): Promise<void> {
  const isOpen = kind === 'open';
  const state = isOpen ? 'pending' : 'completed';
  await client.query(
    `insert into ${schema}.entry(key, rev, value, live, tag, xid, at)
     select 'task/${kind}-' || n, nextval('${schema}.rev'), json_build_object('task', json_build_object(
       'id', '${kind}-' || n, 'root', '${kind}-' || n, 'depth', 0, 'role', 'root', 'description', repeat('Do it. ', 20),
       'to', 'nobody-here', 'requirements', '[]'::json, 'dependencies', '[]'::json, 'context', '{}'::json, 'priority', 'C',
       'created_by', 'human', 'created_at', '2026-01-01T00:00:00.000Z', 'attempts', 0, 'version', 1),
       'state', '${state}')::text, ${isOpen}, ${isOpen ? 'null' : `'${state}'`}, pg_current_xact_id(), now()
     from generate_series(1, ${count}) n`,
  );
}

function storeAt({ env }: FarPlace): FarStore {
  const address = readAddress(env['GUILD_STORE']!, { from: 'bench', mayHavePassword: true });
  const me = { host: 'bench', bootId: 'bench', pid: process.pid, startTime: '0' };
  return far({ ledger: postgresLedger({ address, clock: clock() }), clock: clock(), ids: ids(), me });
}

async function startMs(place: FarPlace): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const store = storeAt(place);
    times.push(await timed(() => store.tasks.scan()));
    await store.close();
  }
  return median(times);
}

/** From the acknowledged commit of one process to the scan of another, next to a bare NOTIFY. */
async function noticed(place: FarPlace, rounds: number): Promise<ReturnType<typeof atMostOver>> {
  const [writer, reader] = [storeAt(place), storeAt(place)];
  const listener = new pg.Client({ connectionString: place.env['GUILD_STORE']!.replace(/\?.*/, '') });
  await listener.connect();
  await listener.query('listen bare');
  let ring: () => void = () => undefined;
  const off = await reader.presence.onRing(() => ring());
  listener.on('notification', () => ring());
  await Promise.all([writer.tasks.scan(), reader.tasks.scan()]);
  const [ours, raws] = [[], []] as [number[], number[]];
  for (let round = 0; round < rounds; round++) {
    const rung = new Promise<void>((resolve) => (ring = resolve));
    const from = performance.now();
    await writer.intents.submit({ kind: 'stop', id: `i${round}`, task: 'x', by: 'bench', at: '' });
    await rung;
    await reader.tasks.scan();
    ours.push(performance.now() - from);
    const bare = new Promise<void>((resolve) => (ring = resolve));
    raws.push(await timed(async () => (await place.client.query('notify bare'), await bare)));
  }
  await off();
  await listener.end();
  await writer.close();
  await reader.close();
  return atMostOver('far: another process sees a change, over a bare LISTEN', median(ours), median(raws), 'ms', 20);
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await act();
  return performance.now() - from;
}
