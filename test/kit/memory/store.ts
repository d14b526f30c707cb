/**
 * A store in memory, for tests and simulations. It passes the same contract suites as the file
 * store, so it is also the shortest description of a store. Several peers share one world; a peer
 * can be declared dead.
 */
import { defined } from '../../../src/domain/defined.js';
import { roleFacts } from '../../../src/domain/task/role.js';
import { createHash } from 'node:crypto';
import type { Event } from '../../../src/domain/event.js';
import type { Intent } from '../../../src/domain/task/intent.js';
import { problem } from '../../../src/domain/problem.js';
import type { Peer, Rank } from '../../../src/domain/peer.js';
import type { Message, Session } from '../../../src/domain/session/session.js';
import { isEnded, type EndedState, type Placed, type Task, type TaskState } from '../../../src/domain/task/task.js';
import type { Clock, Ids } from '../../../src/ports/clock.js';
import type { Effect } from '../../../src/ports/store/effects.js';
import type { Store } from '../../../src/ports/store/index.js';
import type { Sessions } from '../../../src/ports/store/sessions.js';
import type { Claim, OpenTask, Tasks } from '../../../src/ports/store/tasks.js';
import { parseSession } from '../../../src/text/session/parse.js';
import { diffMessages } from '../../../src/text/session/message-diff.js';

/** Immutable: a row that is still the same object has not changed. */
interface Row {
  readonly task: Task;
  readonly state: TaskState;
  readonly owner?: { agent: string; peer: string };
  /** The number of the claim; of two claims, the later one has the greater number. */
  readonly since?: bigint;
}

export interface World {
  rows: Map<string, Row>;
  /** Ids of tasks in the order in which they changed. */
  changed: string[];
  claims: bigint;
  sessions: Map<string, Session>;
  turns: Map<string, string>;
  effects: Map<string, Effect>;
  blobs: Map<string, Buffer>;
  views: Map<string, string>;
  intents: Intent[];
  events: Event[];
  alive: Map<string, Peer>;
  bells: Set<() => void>;
}

export interface MemoryOptions {
  clock: Clock;
  ids: Ids;
  /** Agents this peer hosts; empty: all. */
  agents?: string[];
  /**
   * Makes every asynchronous verb wait for a random time before and after it takes effect, as a
   * network would.
   */
  random?: () => number;
}

export function world(): World {
  return {
    rows: new Map(),
    changed: [],
    claims: 0n,
    sessions: new Map(),
    turns: new Map(),
    effects: new Map(),
    blobs: new Map(),
    views: new Map(),
    intents: [],
    events: [],
    alive: new Map(),
    bells: new Set(),
  };
}

export function memory(w: World, { clock, ids, agents = [], random }: MemoryOptions): Store {
  const since = clock.now().toISOString();
  const peer: Peer = { id: ids.next(), host: 'memory', bootId: 'memory', pid: 0, startTime: since, agents, since };
  let joining: Promise<void> | undefined;
  const join = (): Promise<void> => (joining ??= answer(() => void w.alive.set(peer.id, peer)));
  const ring = (): void => w.bells.forEach((bell) => bell());

  /** `act` is the moment at which the verb takes effect; others may come before and after it. */
  async function answer<T>(act: () => T): Promise<T> {
    if (random === undefined) return act();
    await pause(random);
    const result = act();
    await pause(random);
    return result;
  }

  function put(id: string, row: Row): void {
    w.rows.set(id, row);
    w.changed.push(id);
  }

  const isOpen = (id: string): boolean => w.rows.has(id) && !isEnded(w.rows.get(id)!.state);
  const isHeld = ({ owner }: Row): boolean => owner !== undefined && w.alive.has(owner.peer);

  function shown(row: Row): OpenTask | undefined {
    const { task, state, owner } = row;
    return isEnded(state) ? undefined : defined({ task, state, held: isHeld(row), owner });
  }

  function take(id: string, row: Row, agent: string, recovered: boolean): Claim | undefined {
    if (w.rows.get(id) !== row || isEnded(row.state)) return undefined;
    put(id, { task: row.task, state: 'active', owner: { agent, peer: peer.id }, since: ++w.claims });
    return { id, agent, task: row.task, from: row.state, recovered };
  }

  async function move(claim: Claim, task: Task, state: TaskState): Promise<boolean> {
    return answer(() => {
      const row = w.rows.get(claim.id);
      if (row?.owner?.peer !== peer.id || row.state !== 'active') return false;
      put(claim.id, { task: structuredClone(task), state });
      ring();
      return true;
    });
  }

  const read = (id: string): Promise<Placed | undefined> => answer(() => w.rows.get(id));

  const tasks: Tasks = {
    create: (task) =>
      answer(() => {
        if (w.rows.has(task.id)) return false;
        put(task.id, { task: structuredClone(task), state: 'pending' });
        ring();
        return true;
      }),
    scan: () => answer(() => ({ problems: [] })),
    *open() {
      for (const row of w.rows.values()) {
        const open = shown(row);
        if (open !== undefined) yield open;
      }
    },
    getOpen(id) {
      const row = w.rows.get(id);
      return row && shown(row);
    },
    openCount: () => [...w.rows.values()].filter((row) => !isEnded(row.state)).length,
    version: () => w.changed.length,
    changedSince: (version) => w.changed.slice(version),
    isOpen,
    unreadable: () => undefined,
    openUnderRoot: (root) => [...w.rows.values()].filter((row) => row.task.root === root && !isEnded(row.state)).length,
    read,
    readChild: read,
    ended: ({ state, root, limit = Infinity } = {}) =>
      answer(() => {
        const all = [...w.rows.values()].filter(
          (row) => isEnded(row.state) && (!state || row.state === state) && (!root || row.task.root === root),
        );
        return all.reverse().slice(0, limit);
      }),
    async claim(id, agent) {
      const row = w.rows.get(id);
      if (row === undefined || row.state === 'active') return undefined;
      await join();
      return answer(() => take(id, row, agent, false));
    },
    claimsFor: (agent) =>
      answer(() =>
        [...w.rows].flatMap(([task, row]) => {
          if (row.owner?.agent !== agent || !roleFacts(row.task.role).takesCapacity || !isHeld(row)) return [];
          return [{ task, peer: row.owner.peer, since: row.since! }];
        }),
      ),
    async takeOver(id) {
      const row = w.rows.get(id);
      if (row?.state !== 'active' || isHeld(row)) return undefined;
      await join();
      return answer(() => take(id, row, row.owner!.agent, true));
    },
    orphans: () =>
      answer(() => [...w.rows].flatMap(([id, row]) => (row.state === 'active' && !isHeld(row) ? [id] : []))),
    release: (claim, task) => move(claim, task, 'pending'),
    park: (claim, task) => move(claim, task, 'waiting'),
    settle: (claim, task, state: EndedState) => move(claim, task, state),
    reopen: (id, task) =>
      answer(() => {
        if (!w.rows.has(id) || isOpen(id)) return false;
        put(id, { task: structuredClone(task), state: 'pending' });
        ring();
        return true;
      }),
  };

  return {
    tasks,
    sessions: conversations(w, answer),
    ...records(w, clock, answer, ring, isOpen),
    events: {
      append: (event) => void w.events.push(event),
      list: ({ task, limit = Infinity } = {}) =>
        answer(() => w.events.filter((event) => task === undefined || event.task === task).slice(-limit)),
    },
    views: { write: (file, text) => void w.views.set(file, text) },
    presence: {
      peer,
      join,
      peers: () => answer(() => [...w.alive.values()]),
      version: () => [...w.alive.keys()].sort().join(' '),
      rank(): Rank {
        const others = [...w.alive.keys()].filter((id) => id !== peer.id);
        return { rank: others.filter((id) => id < peer.id).length, of: others.length + 1 };
      },
      ringOthers: ring,
      async onRing(bell) {
        w.bells.add(bell);
        return async () => void w.bells.delete(bell);
      },
      pace: () => ({ settleMs: 15, busyGapMs: 0 }),
      sweep: () => answer(() => undefined),
    },
    ...{ flush: () => answer(() => undefined), stats: () => ({ worstLagMs: 0 }) },
    async close() {
      await joining;
      joining = undefined;
      await answer(() => void w.alive.delete(peer.id));
      ring();
    },
  };
}

type Answer = <T>(act: () => T) => Promise<T>;

function records(
  w: World,
  clock: Clock,
  answer: Answer,
  ring: () => void,
  isOpen: (task: string) => boolean,
): Pick<Store, 'locks' | 'effects' | 'blobs' | 'intents'> {
  return {
    locks: {
      acquire: (key, task) =>
        answer(() => {
          const holder = w.turns.get(key);
          if (holder !== undefined && holder !== task && isOpen(holder)) return false;
          w.turns.set(key, task);
          return true;
        }),
      release: (key, task) =>
        answer(() => {
          if (w.turns.get(key) === task) w.turns.delete(key);
        }),
      holder: (key) =>
        answer(() => {
          const holder = w.turns.get(key);
          return holder !== undefined && isOpen(holder) ? holder : undefined;
        }),
    },
    effects: {
      get: (id) => answer(() => w.effects.get(id) ?? { state: 'none' }),
      begin: (id, digest) =>
        answer(() => {
          if (w.effects.has(id)) return false;
          w.effects.set(id, { state: 'started', digest, at: clock.now().toISOString() });
          return true;
        }),
      finish: (id, outcome) =>
        answer(() => {
          const effect = w.effects.get(id);
          if (effect?.state === 'started') w.effects.set(id, { state: 'done', digest: effect.digest, outcome });
        }),
    },
    blobs: {
      put: (bytes) =>
        answer(() => {
          const hash = createHash('sha256').update(bytes).digest('hex');
          w.blobs.set(hash, Buffer.from(bytes));
          return hash;
        }),
      get: (hash) => answer(() => w.blobs.get(hash)),
    },
    intents: {
      submit: (intent) =>
        answer(() => {
          w.intents.push(intent);
          ring();
        }),
      list: () => answer(() => [...w.intents]),
      done: (id) =>
        answer(() => {
          w.intents = w.intents.filter((intent) => intent.id !== id);
        }),
    },
  };
}

/** Each peer has its own copy of a conversation, and detects edits by comparing with it. */
function conversations(w: World, answer: Answer): Sessions {
  const copies = new Map<string, Session>();
  const textOf = (messages: readonly Message[]): string => JSON.stringify(messages);
  return {
    create: (header, messages) =>
      answer(() => {
        const id = header.sessionId;
        if (w.sessions.has(id)) return undefined;
        w.sessions.set(id, structuredClone({ header, messages }));
        copies.set(id, structuredClone({ header, messages }));
        return copies.get(id);
      }),
    open: (id) =>
      answer(() => {
        const session = w.sessions.get(id);
        if (session === undefined) return { kind: 'missing' };
        const before = copies.get(id);
        if (before !== undefined && textOf(before.messages) === textOf(session.messages))
          return { kind: 'open', session: before };
        const copy = structuredClone(session);
        copies.set(id, copy);
        if (before === undefined) return { kind: 'open', session: copy };
        return { kind: 'open', session: copy, edited: diffMessages(before.messages, copy.messages) };
      }),
    append: (id, messages) =>
      answer(() => {
        const session = w.sessions.get(id);
        const copy = copies.get(id);
        if (session === undefined || copy === undefined) return 'edited';
        if (textOf(copy.messages) !== textOf(session.messages)) return 'edited';
        session.messages.push(...structuredClone(messages));
        copy.messages.push(...structuredClone(messages));
        return 'written';
      }),
    replace: (id, text) =>
      answer(() => {
        if (!w.sessions.has(id)) return problem('not_found', `there is no conversation ${id}`);
        const parsed = parseSession(text, id);
        if (!parsed.ok) return parsed.problem;
        w.sessions.set(id, parsed.session);
        return undefined;
      }),
    setStatus: (id, status) =>
      answer(() => {
        const session = w.sessions.get(id);
        if (session) session.header.status = status;
      }),
    known: () => undefined,
    list: () => answer(() => [...w.sessions.keys()]),
    stamp: (id) =>
      answer(() => {
        const session = w.sessions.get(id);
        return session && createHash('sha256').update(JSON.stringify(session)).digest('hex');
      }),
  };
}

/** Up to three microtasks, or up to three rounds of the event loop. */
async function pause(random: () => number): Promise<void> {
  const isLong = random() < 0.4;
  for (let left = Math.floor(random() * 4); left > 0; left--)
    await (isLong ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve());
}
