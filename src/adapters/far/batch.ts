/**
 * The changes that go with one commit: values of entries, items for the ends of logs, and lines for
 * any place in a log. Each has its own fate, which the answer of the ledger decides.
 */
import type { Add, Change, Committed, Put, Topic } from '../../ports/ledger.js';

/** An entry as this process knows it. The outbox keeps its revision up to date. */
export interface Cell {
  readonly key: string;
  /** As last acknowledged or read; 0: no other process has seen it. */
  rev: number;
}

/** A log that this process appends to at a known end. */
export interface Tail {
  readonly log: string;
  end: number;
  /** The log ended elsewhere: another process or a person wrote to it. */
  isLost: boolean;
}

/**
 * The next value of an entry. It is serialized when it is sent, so of many changes only the last
 * one costs anything.
 */
export interface Value extends Pick<Put, 'live' | 'tag' | 'atMost'> {
  print(): string;
  /** Whom it wakes; absent: processes that take tasks. */
  readonly topic?: Topic | 'nobody';
}

interface Queued extends Value {
  readonly cell: Cell;
  isAccepted: boolean;
}

export type Fate = Readonly<Pick<Queued, 'isAccepted' | 'live'>>;

interface Growth {
  readonly tail: Tail;
  readonly items: unknown[];
  isAccepted: boolean;
}

export interface Batch {
  readonly cells: Map<string, Queued>;
  readonly logs: Map<string, Growth>;
  readonly lines: Add[];
  /** Whom it wakes. */
  readonly topics: Set<Topic>;
  /** Somebody waits for it. */
  isWanted: boolean;
  /** When the first change was queued. */
  since: number | undefined;
  readonly done: Promise<void>;
  settle(failure?: { reason: unknown }): void;
}

export function newBatch(): Batch {
  let settle: Batch['settle'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = (failed) => (failed === undefined ? resolve() : reject(failed.reason));
  });
  done.catch(() => undefined); // a batch may have nobody who waits for it
  return {
    cells: new Map(),
    logs: new Map(),
    lines: [],
    topics: new Set(),
    isWanted: false,
    since: undefined,
    done,
    settle,
  };
}

export function isEmpty({ cells, logs, lines }: Batch): boolean {
  return cells.size === 0 && logs.size === 0 && lines.length === 0;
}

/** Values are printed here: of many changes of one entry only the last one is. */
export function changeOf({ cells, logs, lines, topics }: Batch): Change {
  return {
    topics: [...topics],
    puts: [...cells.values()].map(({ cell, print, live, tag, atMost }) => ({
      ...{ key: cell.key, value: print(), expect: cell.rev, live },
      ...(tag === undefined ? {} : { tag }),
      ...(atMost === undefined ? {} : { atMost }),
    })),
    adds: [
      ...[...logs.values()].map(({ tail, items }) => ({
        log: tail.log,
        text: JSON.stringify(items),
        expect: tail.end,
      })),
      ...lines,
    ],
  };
}

/** Notes revisions and ends as the ledger has them now. */
export function takeAnswer({ cells, logs }: Batch, answer: Committed): void {
  [...cells.values()].forEach((queued, at) => {
    const rev = answer.puts[at];
    queued.isAccepted = rev !== undefined;
    if (rev !== undefined) queued.cell.rev = rev;
  });
  [...logs.values()].forEach((growth, at) => {
    const end = answer.adds[at];
    growth.isAccepted = end !== undefined;
    if (end === undefined) growth.tail.isLost = true;
    else growth.tail.end = end;
  });
}
