/**
 * The journal of this process: everything it does under a claim, one line for each step. A step
 * counts when its line is on the device; one sync covers all waiting lines. The files that people
 * read follow from the lines. If this process dies, the next one replays them.
 */
import { StoreFailed } from '../../../domain/fence.js';
import { inodeOf } from '../../../domain/stamp.js';
import type { Disk } from '../../../ports/disk.js';
import type { ProcessIdentity } from '../../../ports/processes.js';
import { JOURNAL_VERSION, printLine } from './frames.js';
import { closedName, segmentFile } from './names.js';
import { spareFile } from './spare-file.js';
import { keyOfAdd, keyOfPut, type Add, type Put, type Step } from './step.js';
import { syncFiles } from './sync-files.js';

export interface Journal {
  /**
   * Adds to the next line, which is written before this turn of the event loop ends. `file`: the
   * content is already in place under this name.
   */
  put(put: Put, file?: string): void;
  add(add: Add): void;
  /** Writes the line now: what was added so far survives a crash of this process. */
  write(): void;
  /** The number of the line that contains everything added so far. */
  line(): number;
  /** Resolves when this line and all before it are on the device; default: all lines so far. */
  durable(line?: number): Promise<void>;
  isDurable(line: number): boolean;
  /** Starts a sync after this turn of the event loop; a failure is reported to whoever waits. */
  syncSoon(): void;
  /** The file of this key is in place under this name; absent: there is no file. */
  placed(key: string, file: string | undefined): void;
  /** The changes of this key do not count: another process or a person was faster. */
  drop(key: string): void;
  /** True once a line was written. */
  isUsed(): boolean;
  /** Nothing more is written. If `isComplete`, every file is in place. */
  close(isComplete: boolean): Promise<void>;
}

interface Segment {
  file: string;
  number: number;
  used: number;
  size: number;
  /** The name is on the device. */
  isNamed: boolean;
  /** When the next one was started. */
  fullAt: number;
  /** Keys with lines here. */
  keys: Set<string>;
  /**
   * A change that prevented the last attempt to trim this segment: its file was not in place yet.
   */
  blockedBy?: string | undefined;
}

interface JournalOptions {
  disk: Disk;
  folder: string;
  peer: string;
  owner: ProcessIdentity;
  /** Where the file of this key is now, if it is not where this process placed it. */
  whereIs: (key: string) => string | undefined;
  /** The name under which a used file waits to be reused. It is swept if this process dies. */
  spare: string;
  beforeFirst: () => void;
  monotonicMs: () => number;
}

/** A step without its placed keys, until its line is written. */
type Changes = Required<Omit<Step, 'placed'>>;

/** Short commands write little; a process that works longer gets larger files. */
const FIRST_BYTES = 32 * 1024;
const SEGMENT_BYTES = 256 * 1024;

/**
 * A full file of the journal stays until the files that follow from it have probably reached the
 * device by themselves: the system writes pages after 30 seconds, and a sync costs little then. A
 * process that writes more than this in that time syncs earlier, so that a replay stays short.
 */
export const WRITTEN_BACK_MS = 35_000;
export const MAX_SEGMENTS = 256;

export function journal(options: JournalOptions): Journal {
  const { disk, folder, peer, owner, whereIs, spare, beforeFirst, monotonicMs } = options;
  const segments: Segment[] = [];
  const spares = spareFile({ disk, folder, name: spare, size: SEGMENT_BYTES });
  /** Changes whose files are not in place yet. */
  const unplaced = new Map<string, { puts: Put[]; adds: Add[] }>();
  /** Where the files of all keys with lines are, if they have files. */
  const places = new Map<string, string>();
  const placedSinceLine = new Set<string>();
  let next: Changes = emptyChanges();
  let isScheduled = false;
  let isSyncDue = false;
  let isClosed = false;
  let count = 0;
  let lastLine = 0;
  let durableLine = 0;
  let lastLineInSync = 0;
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let trimming: Promise<void> | undefined;
  let failure: StoreFailed | undefined;

  return {
    put(put, file) {
      if (failure !== undefined) throw failure;
      next.puts.push(put);
      if (file !== undefined) return placed(keyOfPut(put), file);
      keep(keyOfPut(put)).puts.push(put);
      schedule();
    },
    add(add) {
      if (failure !== undefined) throw failure;
      keep(keyOfAdd(add)).adds.push(add);
      next.adds.push(add);
      schedule();
    },
    write: () => void write(),
    line: () => (isEmpty(next) && placedSinceLine.size === 0 ? lastLine : lastLine + 1),
    durable,
    isDurable,
    syncSoon() {
      if (isSyncDue) return;
      isSyncDue = true;
      setImmediate(() => {
        isSyncDue = false;
        if (!isClosed) durable().catch(() => undefined);
      });
    },
    placed,
    drop(key) {
      unplaced.delete(key);
      places.delete(key);
      next.puts = next.puts.filter((put) => keyOfPut(put) !== key);
      next.adds = next.adds.filter((add) => keyOfAdd(add) !== key);
      next.dropped.push(key);
      schedule();
    },
    isUsed: () => count > 0,
    async close(isComplete) {
      write();
      isClosed = true;
      await running?.catch(() => undefined);
      await trimming;
      spares.remove();
      const last = segments.at(-1);
      if (failure === undefined && isComplete && last !== undefined) disk.rename(last.file, closedName(last.file));
      // Later writes of a store that is given up must not count.
      if (!isComplete) fail(new Error('it is closed'));
    },
  };

  async function durable(line = Infinity): Promise<void> {
    const last = write();
    for (const wanted = Math.min(line, last); !isDurable(wanted); await sync());
    if (failure !== undefined) throw failure;
  }

  function isDurable(line: number): boolean {
    return line <= durableLine;
  }

  function keep(key: string): { puts: Put[]; adds: Add[] } {
    let changes = unplaced.get(key);
    if (changes === undefined) unplaced.set(key, (changes = { puts: [], adds: [] }));
    placedSinceLine.delete(key);
    return changes;
  }

  function placed(key: string, file: string | undefined): void {
    unplaced.delete(key);
    placedSinceLine.add(key);
    if (file === undefined) places.delete(key);
    else places.set(key, file);
    schedule();
    if (segments.length > 1) trim();
  }

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      try {
        write();
      } catch {
        // `fail` has kept the reason; whoever waits for the line gets it
      }
    });
  }

  function write(): number {
    isScheduled = false;
    if (isEmpty(next) && placedSinceLine.size === 0) return lastLine;
    if (failure !== undefined) throw failure;
    try {
      const step = { ...next, placed: [...placedSinceLine] };
      next = emptyChanges();
      placedSinceLine.clear();
      writeStep(step);
    } catch (thrown) {
      throw fail(thrown);
    }
    return lastLine;
  }

  function writeStep(step: Required<Step>): void {
    const n = lastLine + 1;
    let bytes = printLine(peer, n, compact(step));
    let segment = segments.at(-1);
    if (segment === undefined || segment.used + bytes.length > segment.size) {
      segment = startSegment(bytes.length);
      bytes = printLine(peer, lastLine + 1, compact(step));
    }
    disk.writeOwn(segment.file, segment.used, bytes);
    segment.used += bytes.length;
    lastLine++;
    for (const put of step.puts) segment.keys.add(keyOfPut(put));
    for (const add of step.adds) segment.keys.add(keyOfAdd(add));
  }

  /** Its header is a line too, so that the numbers of lines are consecutive. */
  function startSegment(bytes: number): Segment {
    if (count === 0) beforeFirst();
    const number = ++count;
    const file = segmentFile(folder, peer, number);
    const place = inodeOf(disk.stamp(folder) ?? '');
    const header = printLine(peer, lastLine + 1, { journal: JOURNAL_VERSION, peer, owner, segment: number, place });
    const size = Math.max(number === 1 ? FIRST_BYTES : SEGMENT_BYTES, header.length + bytes + 1);
    if (!spares.take(file, size)) disk.preallocate(file, size);
    disk.writeOwn(file, 0, header);
    lastLine++;
    const full = segments.at(-1);
    if (full !== undefined) full.fullAt = monotonicMs();
    const segment = {
      file,
      number,
      used: header.length,
      size,
      isNamed: false,
      fullAt: Infinity,
      keys: new Set<string>(),
    };
    segments.push(segment);
    return segment;
  }

  /** One sync for everything that waits. Lines written during a sync share the next one. */
  function sync(): Promise<void> {
    if (failure !== undefined) return Promise.reject(failure);
    if (running !== undefined && lastLineInSync >= lastLine) return running;
    if (running === undefined) return (running = syncAll().finally(() => (running = undefined)));
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return sync();
      });
    return queued;
  }

  async function syncAll(): Promise<void> {
    // It also covers all lines that are added later in this turn of the event loop.
    lastLineInSync = Infinity;
    await new Promise((resolve) => setImmediate(resolve));
    const line = (lastLineInSync = lastLine);
    const from = segments.findLastIndex(({ isNamed }) => isNamed);
    const dirty = segments.slice(Math.max(0, from));
    try {
      await Promise.all([
        ...dirty.map(({ file }) => disk.sync(file)),
        ...(dirty.every(({ isNamed }) => isNamed) ? [] : [disk.syncFolder(folder)]),
      ]);
    } catch (thrown) {
      if (dirty.every(({ file }) => disk.stamp(file) !== undefined)) throw fail(thrown);
    }
    if (failure !== undefined) throw failure;
    if (dirty.some(({ file }) => disk.stamp(file) === undefined)) return writeAgain();
    for (const segment of dirty) segment.isNamed = true;
    durableLine = Math.max(durableLine, line);
  }

  /**
   * The files of the journal are gone. If another process is replaying them, it considers this one
   * dead: nothing more may be written. Otherwise a person deleted them, and their content is made
   * durable elsewhere.
   */
  async function writeAgain(): Promise<void> {
    const isAdopted = disk.list(folder).some((name) => new RegExp(`^${peer}\\.\\d+\\.log\\.`).test(name));
    if (isAdopted) {
      const message = 'another process considered this one dead and is replaying its journal';
      throw fail(Object.assign(new Error(message), { code: 'ESTALE' }));
    }
    const lost = segments.splice(0);
    for (const { file } of lost) disk.remove(file);
    // At once, before anything else is written: a change that is in a journal twice counts twice.
    const changes = [...unplaced.values()];
    next.puts = [...new Set([...changes.flatMap(({ puts }) => puts), ...next.puts])];
    next.adds = [...new Set([...changes.flatMap(({ adds }) => adds), ...next.adds])];
    // Even if nothing is unplaced, a line is needed to know that the journal has a name again.
    placedSinceLine.add('journal');
    write();
    try {
      await syncFiles(disk, filesOf(lost, places), whereIs);
    } catch (thrown) {
      throw fail(thrown);
    }
  }

  /** Removes a file of the journal once everything that its lines describe is durable. */
  function trim(): void {
    if (trimming !== undefined || failure !== undefined || segments.length < 2) return;
    const first = segments[0]!;
    if (segments.length <= MAX_SEGMENTS && monotonicMs() - first.fullAt < WRITTEN_BACK_MS) return;
    if (first.blockedBy !== undefined && unplaced.has(first.blockedBy)) return;
    first.blockedBy = firstOf(first.keys, (key) => unplaced.has(key));
    if (first.blockedBy !== undefined) return;
    trimming = syncFiles(disk, filesOf([first], places), whereIs)
      .then(() => {
        if (segments[0] !== first) return;
        write(); // puts the keys of the next line into a segment, so that their places are kept
        segments.shift();
        for (const key of first.keys) if (!segments.some(({ keys }) => keys.has(key))) places.delete(key);
        return spares.keep(first);
      })
      .catch((thrown: unknown) => void fail(thrown))
      .finally(() => {
        trimming = undefined;
        if (segments.length > 1) trim();
      });
  }

  function fail(thrown: unknown): StoreFailed {
    failure ??= thrown instanceof StoreFailed ? thrown : new StoreFailed('the journal cannot be written', thrown);
    return failure;
  }
}

function filesOf(segments: readonly Segment[], places: ReadonlyMap<string, string>): [key: string, file: string][] {
  return segments.flatMap(({ keys }) =>
    [...keys].flatMap((key): [string, string][] => {
      const file = places.get(key);
      return file === undefined ? [] : [[key, file]];
    }),
  );
}

function firstOf<T>(values: Iterable<T>, isWanted: (value: T) => boolean): T | undefined {
  for (const value of values) if (isWanted(value)) return value;
  return undefined;
}

function emptyChanges(): Changes {
  return { puts: [], adds: [], dropped: [] };
}

function isEmpty({ puts, adds, dropped }: Changes): boolean {
  return puts.length + adds.length + dropped.length === 0;
}

function compact(step: Required<Step>): Step {
  return Object.fromEntries(Object.entries(step).filter(([, list]) => (list as unknown[]).length > 0));
}
