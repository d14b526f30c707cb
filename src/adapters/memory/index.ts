/**
 * A store in memory, for tests and simulations. It keeps the same contract as the others, so it is also the shortest
 * description of what a store does. Several peers share one world; a peer can be declared dead.
 */
import { createHash } from 'node:crypto';
import type { Event } from '../../domain/event.js';
import type { Intent } from '../../domain/task/intent.js';
import { problem } from '../../domain/problem.js';
import type { Peer } from '../../domain/peer.js';
import type { Message, Session } from '../../domain/session/session.js';
import {
  isEnded,
  type EndedState,
  type OpenState,
  type Placed,
  type Task,
  type TaskState,
} from '../../domain/task/task.js';
import type { Clock, Ids } from '../../ports/clock.js';
import type { Claim, Effect, Store } from '../../ports/store.js';
import { parseSession } from '../../text/session/parse.js';
import { diffMessages } from '../../text/session/message-diff.js';

interface Row {
  task: Task;
  state: TaskState;
  owner?: { agent: string; peer: string };
}

export interface World {
  rows: Map<string, Row>;
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

export function world(): World {
  return {
    rows: new Map(),
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

export function memory(w: World, { clock, ids }: { clock: Clock; ids: Ids }): Store {
  const since = clock.now().toISOString();
  const peer: Peer = { id: ids.next(), host: 'memory', bootId: 'memory', pid: 0, startTime: since, agents: [], since };
  /** What this peer last saw of each conversation, to notice a person's edit. */
  const seen = new Map<string, string>();
  w.alive.set(peer.id, peer);
  const ring = (): void => w.bells.forEach((bell) => bell());

  const take = (id: string, agent: string, recovered: boolean): Claim => {
    const row = w.rows.get(id)!;
    const from = row.state as OpenState;
    Object.assign(row, { state: 'active', owner: { agent, peer: peer.id } });
    return { id, agent, task: row.task, from, recovered };
  };
  const move = async (claim: Claim, task: Task, state: TaskState): Promise<boolean> => {
    const row = w.rows.get(claim.id);
    if (row?.owner?.peer !== peer.id || row.state !== 'active') return false;
    w.rows.set(claim.id, { task: structuredClone(task), state });
    ring();
    return true;
  };

  const takeTurn = (key: string, task: string): boolean => {
    const holder = w.turns.get(key);
    if (holder !== undefined && holder !== task && w.rows.has(holder) && !isEnded(w.rows.get(holder)!.state))
      return false;
    w.turns.set(key, task);
    return true;
  };

  return {
    async create(task) {
      if (w.rows.has(task.id)) return false;
      w.rows.set(task.id, { task: structuredClone(task), state: 'pending' });
      ring();
      return true;
    },
    scan: async () => ({ problems: [] }),
    *open() {
      for (const row of w.rows.values()) {
        if (isEnded(row.state)) continue;
        const held = row.owner !== undefined && w.alive.has(row.owner.peer);
        yield { ...row, state: row.state, held };
      }
    },
    known(id) {
      const row = w.rows.get(id);
      if (row === undefined || isEnded(row.state)) return undefined;
      return { ...row, state: row.state, held: row.owner !== undefined && w.alive.has(row.owner.peer) };
    },
    openCount: () => [...w.rows.values()].filter((row) => !isEnded(row.state)).length,
    isOpen: (id) => w.rows.has(id) && !isEnded(w.rows.get(id)!.state),
    openUnderRoot: (root) => [...w.rows.values()].filter((row) => row.task.root === root && !isEnded(row.state)).length,
    read: async (id) => w.rows.get(id),
    async ended({ state, limit = Infinity } = {}) {
      const all = [...w.rows.values()].filter((row) => isEnded(row.state) && (!state || row.state === state));
      return (all as Placed[]).reverse().slice(0, limit);
    },
    claim(id, agent) {
      const row = w.rows.get(id);
      if (row === undefined || row.state === 'active' || isEnded(row.state)) return undefined;
      return take(id, agent, false);
    },
    takeOver(id) {
      const row = w.rows.get(id);
      if (row?.state !== 'active' || w.alive.has(row.owner!.peer)) return undefined;
      return take(id, row.owner!.agent, true);
    },
    orphans: () =>
      [...w.rows.values()].flatMap((r) => (r.state === 'active' && !w.alive.has(r.owner!.peer) ? [r.task.id] : [])),
    release: (claim, task) => move(claim, task, 'pending'),
    park: (claim, task) => move(claim, task, 'waiting'),
    settle: (claim, task, state: EndedState) => move(claim, task, state),
    async reopen(id, task) {
      if (!w.rows.has(id) || !isEnded(w.rows.get(id)!.state)) return false;
      w.rows.set(id, { task: structuredClone(task), state: 'pending' });
      ring();
      return true;
    },

    async createSession(header, messages) {
      if (w.sessions.has(header.sessionId)) return undefined;
      const session = { header, messages: structuredClone(messages) };
      w.sessions.set(header.sessionId, session);
      seen.set(header.sessionId, JSON.stringify(messages));
      return session;
    },
    async openSession(id) {
      const session = w.sessions.get(id);
      if (session === undefined) return { kind: 'missing' };
      const before = seen.get(id);
      const now = JSON.stringify(session.messages);
      seen.set(id, now);
      if (before === undefined || before === now) return { kind: 'open', session };
      return { kind: 'open', session, edited: diffMessages(JSON.parse(before) as Message[], session.messages) };
    },
    async append(id, messages) {
      const session = w.sessions.get(id);
      if (session === undefined || seen.get(id) !== JSON.stringify(session.messages)) return 'edited';
      session.messages.push(...structuredClone(messages));
      seen.set(id, JSON.stringify(session.messages));
      return 'written';
    },
    async replaceSession(id, text) {
      const session = w.sessions.get(id);
      if (session === undefined) return problem('not_found', `there is no conversation ${id}`);
      const parsed = parseSession(text, id);
      if (!parsed.ok) return parsed.problem;
      w.sessions.set(id, parsed.session);
      return undefined;
    },
    takeTurn,
    keepTurn: async (key, task) => takeTurn(key, task),
    giveTurn(key, task) {
      if (w.turns.get(key) === task) w.turns.delete(key);
    },
    turnOf(session) {
      const holder = w.turns.get(session);
      return holder !== undefined && w.rows.has(holder) && !isEnded(w.rows.get(holder)!.state) ? holder : undefined;
    },
    markSession(id, status) {
      const session = w.sessions.get(id);
      if (session) session.header.status = status;
    },
    sessions: () => [...w.sessions.keys()],

    effect: (id) => w.effects.get(id) ?? { state: 'none' },
    async begin(id, digest) {
      if (w.effects.has(id)) return false;
      w.effects.set(id, { state: 'started', digest, at: clock.now().toISOString() });
      return true;
    },
    async finish(id, outcome) {
      const begun = w.effects.get(id);
      if (begun?.state === 'started') w.effects.set(id, { state: 'done', digest: begun.digest, outcome });
    },
    async putBlob(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex');
      w.blobs.set(hash, Buffer.from(bytes));
      return hash;
    },
    getBlob: (hash) => w.blobs.get(hash),
    showFile: (file, text) => void w.views.set(file, text),
    async submit(intent) {
      w.intents.push(intent);
      ring();
    },
    intents: () => [...w.intents],
    doneIntent(id) {
      w.intents = w.intents.filter((intent) => intent.id !== id);
    },
    record(event) {
      w.events.push(event);
    },
    flush: async () => {},
    events: ({ task, limit = Infinity } = {}) =>
      w.events.filter((event) => task === undefined || event.task === task).slice(-limit),

    peer,
    join() {},
    peers: () => [...w.alive.values()],
    async onRing(bell) {
      w.bells.add(bell);
      return async () => void w.bells.delete(bell);
    },
    sweep() {},
    async close() {
      w.alive.delete(peer.id);
      ring();
    },
  };
}
