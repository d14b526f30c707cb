/**
 * The ledger in PostgreSQL. A commit is one call of one function: one transaction, one round trip
 * and one sync of the log, however much it carries. A process has two connections: one for calls,
 * and one that listens and reads changes.
 */
import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { INTERVALS } from '../../../domain/intervals.js';
import type { Problem } from '../../../domain/problem.js';
import type { Clock } from '../../../ports/clock.js';
import type { Ledger, Topic } from '../../../ports/ledger.js';
import type { Address } from './address.js';
import { checkVersion, isLent } from './check-server.js';
import { connection } from './connection.js';
import { pooled, storeAway, undone } from './problems.js';
import { entryOf, reads, type EntryRow } from './reads.js';
import { written } from './written.js';

export interface PostgresOptions {
  address: Address;
  clock: Clock;
  /** How long a call is retried before it fails. */
  patienceMs?: number;
  /** Called once for each fault that is harmless or temporary, but that people should know of. */
  onProblem?: ((problem: Problem) => void) | undefined;
}

interface Waker {
  readonly topics: readonly Topic[];
  ring(): void;
}

const TOPICS: readonly Topic[] = ['work', 'notes', 'views'];

export function postgresLedger({ address, clock, onProblem, ...rest }: PostgresOptions): Ledger {
  const { schema, shown } = address;
  const handle = randomUUID();
  /** Versions without topics use only the first name. */
  const channels: Record<Topic, string> = {
    work: `guild_${schema}`,
    notes: `guild_${schema}_notes`,
    views: `guild_${schema}_views`,
  };
  const wakers = new Set<Waker>();
  const rung = new Set<Topic>();
  /**
   * The last acknowledged commit. Commits are in order: if the server still has this one, it has
   * all before it.
   */
  let acknowledged: { id: string; atMs: number } | undefined;
  let isDoubtful = false;
  let losses = 0;
  /** This transaction and later ones are not known yet. */
  let mark: string | undefined;
  let isPooled = false;
  let isAwayKnown = false;
  let ringing: NodeJS.Timeout | undefined;
  let looking: NodeJS.Timeout | undefined;

  const onLost = (): void => {
    isDoubtful = true;
    mark = undefined;
    losses++;
  };
  const onWait = (thrown: unknown): void => {
    if (!isAwayKnown) onProblem?.(storeAway(shown, thrown).problem);
    isAwayKnown = true;
  };
  const common = { address, clock, onLost, onWait, givenUp: new AbortController(), ...rest };
  const calls = connection({ ...common, onOpen: prepareCalls });
  const ears = connection({ ...common, onOpen: prepareEars });
  const tidying = setInterval(
    () => void calls.query({ text: `select ${schema}.guild_tidy()` }).catch(() => undefined),
    INTERVALS.databaseTidyMs,
  ).unref();

  async function prepareCalls(client: Client, isDirect: boolean): Promise<void> {
    await checkVersion(client, address);
    isAwayKnown = false;
    if (isDirect || isPooled || !(await isLent(client, address))) return;
    isPooled = true;
    onProblem?.(pooled(shown));
  }

  async function prepareEars(client: Client): Promise<void> {
    await checkVersion(client, address);
    client.on('notification', ({ payload, channel }) => payload !== handle && wake(channel));
    if (wakers.size === 0 || isPooled) return;
    await client.query(listen([...wakers].flatMap(({ topics }) => topics)));
    wake(); // Notifications may have been lost while the server was away.
  }

  /** In one statement. */
  function listen(topics: readonly Topic[]): string {
    return [...new Set(topics)].map((topic) => `listen "${channels[topic]}"`).join('; ');
  }

  /** `channel`: the channel that was notified; absent: it may be any of them. */
  function wake(channel?: string): void {
    for (const { topics, ring } of wakers)
      if (channel === undefined || topics.some((topic) => channels[topic] === channel)) ring();
  }

  function ring(topics: readonly Topic[] = TOPICS): void {
    for (const topic of topics) rung.add(topic);
    if (rung.size === 0) return;
    ringing ??= setTimeout(() => void notify(), INTERVALS.databaseRingMs).unref();
  }

  async function notify(): Promise<void> {
    clearTimeout(ringing);
    ringing = undefined;
    const text = 'select pg_notify(channel, $2) from unnest($1::text[]) channel';
    const query = { name: 'notify', text, values: [[...rung].map((topic) => channels[topic]), handle] };
    rung.clear();
    await ears.query(query).catch(() => undefined);
  }

  /** Throws if a standby that was behind has taken over, without the last acknowledged commit. */
  async function checkAcknowledged(): Promise<void> {
    if (!isDoubtful) return;
    const before = losses;
    const last = acknowledged;
    if (last !== undefined && clock.monotonicMs() - last.atMs < INTERVALS.databaseRememberedMs) {
      const { rows } = await calls.query({
        text: `select 1 from ${schema}.done where id = $1 and writer = session_user`,
        values: [last.id],
      });
      if (rows.length === 0) throw undone(shown);
    }
    if (losses === before) isDoubtful = false;
  }

  const commit: Ledger['commit'] = async (id, change, guard) => {
    await checkAcknowledged();
    const { puts, adds, answer } = written(change);
    const { rows } = await calls.query({
      name: 'commit',
      text: `select ${schema}.guild_commit($1, $2, $3, $4) as said`,
      values: [id, guard ?? null, puts, adds],
    });
    const { said } = rows[0] as { said: 'fenced' | Parameters<typeof answer>[0] };
    if (said === 'fenced') return 'fenced';
    acknowledged = { id, atMs: clock.monotonicMs() };
    const committed = answer(said);
    if ([...committed.puts, ...committed.adds].some((place) => place !== undefined)) ring(change.topics);
    return committed;
  };

  const news: Ledger['news'] = async () => {
    await checkAcknowledged();
    const since = mark;
    const before = losses;
    const now = 'pg_snapshot_xmin(pg_current_snapshot())::text as mark';
    const columns = `select key, rev, value, live, ${now} from ${schema}.entry`;
    // The last row carries the mark, even if nothing changed.
    const end = `union all select null, 0, '', false, ${now}`;
    const { rows } = await (since === undefined
      ? ears.query({ text: `${columns} where live ${end}` })
      : ears.query({ name: 'news', text: `${columns} where xid >= $1::xid8 ${end}`, values: [since] }));
    if (losses !== before) return news(); // the server may have lost known commits
    mark = (rows.at(-1) as { mark: string }).mark;
    return { entries: (rows as EntryRow[]).slice(0, -1).map(entryOf), isComplete: since === undefined };
  };

  return {
    commit,
    news,
    ...reads(schema, { calls, ears }),
    async onRing(ring, topics = TOPICS) {
      const waker: Waker = { ring, topics };
      wakers.add(waker);
      await calls.open(); // Detects poolers.
      if (isPooled) looking ??= setInterval(wake, INTERVALS.databaseLookMs).unref();
      else await ears.query({ text: listen(topics) });
      return async () => void wakers.delete(waker);
    },
    ring: () => ring(),
    hasten() {
      calls.hasten();
      ears.hasten();
    },
    async close() {
      clearInterval(tidying);
      clearInterval(looking);
      if (ringing !== undefined) await notify();
      await Promise.all([calls.close(), ears.close()]);
    },
  };
}
