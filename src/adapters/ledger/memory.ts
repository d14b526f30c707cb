/**
 * A ledger in memory, for tests, simulations and `store: memory:`. It is also the shortest
 * description of a ledger. Every peer has its own handle on one shared state.
 */
import type { Add, Change, Committed, Entry, Ledger, Lines, Put, Topic } from '../../ports/ledger.js';

interface Stored extends Entry {
  readonly tag?: string | undefined;
}

interface Bell {
  readonly topics: readonly Topic[] | undefined;
  wake(): void;
}

interface Line {
  readonly place: number;
  readonly text: string;
  readonly tag?: string | undefined;
}

export interface LedgerState {
  /** Counts every put and add: revisions, places and marks are its values. */
  count: number;
  /** In the order of the last change. */
  entries: Map<string, Stored>;
  logs: Map<string, Line[]>;
  /** The key of each put, in order. */
  changed: string[];
  /** Outcomes by the ids of their commits. */
  done: Map<string, Committed>;
  rings: Set<Bell>;
}

const ALL: readonly Topic[] = ['work', 'notes', 'views'];

export function ledgerState(): LedgerState {
  return { count: 0, entries: new Map(), logs: new Map(), changed: [], done: new Map(), rings: new Set() };
}

export function memoryLedger(state: LedgerState): Ledger {
  const bells = new Set<Bell>();
  let mark: number | undefined;

  function ring(topics?: readonly Topic[]): void {
    for (const bell of state.rings)
      if (!bells.has(bell) && (topics ?? ALL).some((topic) => bell.topics?.includes(topic) !== false)) bell.wake();
  }

  return {
    async commit(id, change, guard) {
      const first = state.done.get(id);
      if (first !== undefined) return first;
      if (guard !== undefined && state.entries.get(guard)?.live !== true) return 'fenced';
      const answer = carryOut(state, change);
      state.done.set(id, answer);
      if ([...answer.puts, ...answer.adds].some((place) => place !== undefined)) ring(change.topics);
      return answer;
    },
    async get(key) {
      const stored = state.entries.get(key);
      return stored && shown(stored);
    },
    async news() {
      const since = mark;
      mark = state.changed.length;
      const changed =
        since === undefined
          ? [...state.entries.values()].filter(({ live }) => live)
          : [...new Set(state.changed.slice(since))].map((key) => state.entries.get(key)!);
      return { entries: changed.map(shown), isComplete: since === undefined };
    },
    async list(prefix, { tag, live, containing = '', before = Infinity, limit = Infinity } = {}) {
      const all = [...state.entries.values()].reverse();
      const isWanted = (entry: Stored): boolean =>
        entry.key.startsWith(prefix) &&
        entry.value.includes(containing) &&
        entry.rev < before &&
        (tag === undefined || entry.tag === tag) &&
        (live === undefined || entry.live === live);
      return all.filter(isWanted).slice(0, limit).map(shown);
    },
    async count(tag) {
      return [...state.entries.values()].filter((entry) => entry.tag === tag).length;
    },
    async lines(log, { after = 0, tag, first, last } = {}) {
      const all = (state.logs.get(log) ?? []).filter(
        (line) => line.place > after && (tag === undefined || line.tag === tag),
      );
      const wanted = first === undefined ? all : all.slice(0, first);
      const texts = wanted.slice(last === undefined ? 0 : Math.max(0, wanted.length - last)).map(({ text }) => text);
      return { texts, end: wanted.at(-1)?.place ?? after };
    },
    async grown(prefixes, since = '0') {
      return { logs: grown(state, prefixes, since), mark: String(state.count) };
    },
    async newLines(prefixes, { mark: since = '0', ends }) {
      const logs = new Map<string, Lines>();
      for (const log of grown(state, prefixes, since)) {
        const lines = state.logs.get(log)!.filter(({ place }) => place > (ends.get(log) ?? 0));
        if (lines.length > 0) logs.set(log, { texts: lines.map(({ text }) => text), end: lines.at(-1)!.place });
      }
      return { logs, mark: String(state.count) };
    },
    async onRing(wake, topics) {
      const bell: Bell = { topics, wake };
      bells.add(bell);
      state.rings.add(bell);
      return async () => {
        bells.delete(bell);
        state.rings.delete(bell);
      };
    },
    ring: () => ring(),
    hasten() {},
    async close() {
      for (const bell of bells) state.rings.delete(bell);
      bells.clear();
    },
  };
}

function grown({ logs }: LedgerState, prefixes: readonly string[], since: string): string[] {
  return [...logs].flatMap(([log, lines]) => {
    const isWanted = prefixes.some((prefix) => log.startsWith(prefix));
    return isWanted && lines.at(-1)!.place > Number(since) ? [log] : [];
  });
}

function carryOut(state: LedgerState, { puts, adds }: Change): Committed {
  return { puts: puts.map((each) => put(state, each)), adds: adds.map((each) => add(state, each)) };
}

function put(state: LedgerState, { key, value, expect, live, tag, atMost }: Put): number | undefined {
  const before = state.entries.get(key);
  if (expect !== undefined && (before?.rev ?? 0) !== expect) return undefined;
  if (atMost !== undefined) {
    const others = [...state.entries.values()].filter((entry) => entry.live && entry.tag === tag && entry.key !== key);
    if (others.length >= atMost) return undefined;
  }
  const rev = ++state.count;
  state.entries.delete(key);
  state.entries.set(key, { key, rev, value, live, tag });
  state.changed.push(key);
  return rev;
}

function add(state: LedgerState, { log, text, expect, tag }: Add): number | undefined {
  const lines = state.logs.get(log) ?? [];
  if (expect !== undefined && (lines.at(-1)?.place ?? 0) !== expect) return undefined;
  const place = ++state.count;
  lines.push({ place, text, tag });
  state.logs.set(log, lines);
  return place;
}

function shown({ key, rev, value, live }: Stored): Entry {
  return { key, rev, value, live };
}
