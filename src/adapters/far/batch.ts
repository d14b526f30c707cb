/**
 * The changes that go with one commit: values of entries, items for the ends of logs, and lines for
 * any place in a log. The ledger accepts or refuses each of them separately.
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
  /** The log has another end than expected: another process or a person wrote to it. */
  isLost: boolean;
}

/**
 * The next value of an entry. It is serialized only when it is sent, so only the last of many
 * changes costs anything.
 */
export interface Value extends Pick<Put, 'live' | 'tag' | 'atMost'> {
  print(): string;
  /** Whom the change wakes; absent: processes that take tasks. */
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
  /** Whom the change wakes. */
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
  done.catch(() => undefined); // nobody may be waiting for a batch
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

/** Serializes the values: only the last of many changes to an entry is sent. */
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

/** Updates revisions and ends to the state in the ledger. */
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
