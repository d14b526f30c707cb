/**
 * One connection that reconnects by itself. A call is retried while the server is away, so every
 * call must be harmless if it runs twice. Commits are, because they have ids.
 */
import type { Client, QueryResult } from 'pg';
import { INTERVALS } from '../../../domain/intervals.js';
import type { Clock } from '../../../ports/clock.js';
import type { Address } from './address.js';
import { pidOf } from './check-server.js';
import { databaseProblem, retryOf, storeAway } from './problems.js';

interface Query {
  text: string;
  values?: unknown[];
  /** Parsed once for each connection, unless a pooler may lend every call another one. */
  name?: string;
}

interface ConnectionOptions {
  address: Address;
  clock: Clock;
  /** Prepares a new connection. Its error is treated as a failed call. */
  onOpen?(client: Client, isDirect: boolean): Promise<void>;
  /** An open connection was lost: known state may be out of date. */
  onLost?(): void;
  /** A call has waited for the server for a while, and keeps waiting. */
  onWait?(thrown: unknown): void;
  patienceMs?: number;
  /** Aborted when a connection of a process that is about to end gets no answer. */
  givenUp: AbortController;
}

export interface Connection {
  query(query: Query): Promise<QueryResult>;
  /** Connects if it is not connected, so that the server can call back. */
  open(): Promise<void>;
  /** Limits the wait: a call, also one under way, that gets no answer soon gives up the server. */
  hasten(): void;
  close(): Promise<void>;
}

export function connection(given: ConnectionOptions): Connection {
  const { address, clock, onOpen, onLost, onWait, givenUp, ...options } = given;
  const patienceMs = options.patienceMs ?? INTERVALS.databasePatienceMs;
  let current: Client | undefined;
  let opening: Promise<Client> | undefined;
  let connecting: Client | undefined;
  let isClosed = false;
  let isHastened = false;
  let isBusy = false;
  let limit: NodeJS.Timeout | undefined;
  /** Whether the current connection has no pooler in between. */
  let isDirect = false;
  /** The client takes one call at a time. */
  let last: Promise<unknown> = Promise.resolve();

  // A frozen server does not close its end, and an open socket would keep the process alive.
  givenUp.signal.addEventListener('abort', () => {
    for (const client of [current, connecting]) if (client !== undefined) streamOf(client).destroy();
  });

  /** Once this process is about to end, a call that takes long is given up with its connection. */
  async function limited<T>(call: () => Promise<T>): Promise<T> {
    isBusy = true;
    if (isHastened) startLimit();
    try {
      return await call();
    } finally {
      isBusy = false;
      clearTimeout(limit);
    }
  }

  function startLimit(): void {
    limit = setTimeout(() => givenUp.abort(), INTERVALS.databaseLastMs);
  }

  function drop(client: Client): void {
    if (current !== client) return;
    current = undefined;
    void client.end().catch(() => undefined);
    if (!isClosed) onLost?.();
  }

  async function connect(): Promise<Client> {
    const { default: pg } = await import('#pg');
    const client = new pg.Client({
      connectionString: address.url,
      application_name: 'guildhall',
      keepAlive: true,
      connectionTimeoutMillis: INTERVALS.databaseConnectMs,
      query_timeout: INTERVALS.databaseAnswerMs,
    });
    connecting = client;
    client.on('error', () => drop(client));
    client.on('end', () => drop(client));
    try {
      await client.connect();
      // A pooler reports process ids that are not those of the server.
      isDirect = (client as unknown as { processID: number }).processID === (await pidOf(client));
      await onOpen?.(client, isDirect);
    } catch (thrown) {
      void client.end().catch(() => undefined);
      throw thrown;
    } finally {
      connecting = undefined;
    }
    socketOf(client).unref();
    current = client;
    return client;
  }

  async function client(): Promise<Client> {
    if (givenUp.signal.aborted) throw storeAway(address.shown, new Error('this process was stopped meanwhile'));
    if (isClosed) throw storeAway(address.shown, new Error('this process has closed its store'));
    if (current !== undefined) return current;
    opening ??= connect().finally(() => (opening = undefined));
    return opening;
  }

  async function stubbornly<T>(ask: (client: Client) => Promise<T>): Promise<T> {
    const fromMs = clock.monotonicMs();
    for (
      let waitMs: number = INTERVALS.databaseRetryMs;
      ;
      waitMs = Math.min(waitMs * 2, INTERVALS.databaseRetryMaxMs)
    ) {
      let asked: Client | undefined;
      try {
        asked = await client();
        return await ask(asked);
      } catch (thrown) {
        const retry = retryOf(thrown);
        if (retry === 'away' && asked !== undefined) drop(asked);
        if (retry === undefined) throw databaseProblem(thrown, address);
        const waitedMs = clock.monotonicMs() - fromMs;
        if (isClosed || givenUp.signal.aborted || waitedMs > patienceMs) throw storeAway(address.shown, thrown);
        if (waitedMs > INTERVALS.databaseReportMs) onWait?.(thrown);
        await clock.sleep(waitMs, givenUp.signal);
      }
    }
  }

  /** Runs the call after the calls before it, whether or not those succeed. */
  function inTurn<T>(call: () => Promise<T>): Promise<T> {
    const turn = last.then(() => limited(call));
    last = turn.catch(() => undefined);
    return turn;
  }

  return {
    query: ({ name, ...query }) =>
      inTurn(() => stubbornly((client) => busy(client, isDirect && name !== undefined ? { name, ...query } : query))),
    open: () => inTurn(() => stubbornly(async () => undefined)),
    hasten() {
      if (isBusy && !isHastened) startLimit();
      isHastened = true;
    },
    async close() {
      await last;
      isClosed = true;
      await opening?.catch(() => undefined);
      if (current === undefined) return;
      socketOf(current).ref(); // A process waits until its connection is closed.
      const open = current;
      await limited(() => open.end().catch(() => undefined));
    },
  };
}

/** Not in the types of the client. */
function socketOf(client: Client): { ref(): void; unref(): void } {
  return client as unknown as { ref(): void; unref(): void };
}

/** Not in the types of the client. */
function streamOf(client: Client): { destroy(): void } {
  return (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream;
}

/** An idle connection does not keep a process alive; a call under way does. */
async function busy(client: Client, query: Query): Promise<QueryResult> {
  const socket = socketOf(client);
  socket.ref();
  try {
    return await client.query(query);
  } finally {
    socket.unref();
  }
}
