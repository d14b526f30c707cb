/**
 * Changed conversations, by the change times of their files. `.guild/sessions-mark` has the time up
 * to which every file was handled; it may be old, or deleted at any time. The first look of a
 * process compares all files with it; later looks only consider those that the system reported. Of
 * a file, only the end is read, and nothing if this process knows its content.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { INTERVALS } from '../../domain/intervals.js';
import { changedAt } from '../../domain/stamp.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import type { EditedSessions } from '../../ports/reading/edited-sessions.js';

const END = '.session.yaml';
const TAIL_BYTES = 16 * 1024;
/** Beyond this number only the watch notices changes. */
const MAX_FILES = 4000;
/** Without a mark, only the newest are considered. */
const MAX_UNMARKED = 200;
/**
 * If more files than this changed, other processes wrote them. Then only the first process looks at
 * them; for this long, the others leave it the files that changed after its mark.
 */
const FEW = 8;
const PATIENCE_MS = 2 * INTERVALS.sessionsMarkMs;

interface Options {
  root: string;
  disk: Disk;
  clock: Pick<Clock, 'monotonicMs' | 'now'>;
  peer: string;
  /** Whether the system can report changes; otherwise every look compares all files. */
  isWatched: boolean;
  /** Whether this process comes first among those at work. */
  isFirst: () => boolean;
}

interface Changed {
  id: string;
  /** The change time of its file. */
  at: bigint;
  stamp: string;
}

export function editedSessions({ root, disk, clock, peer, isWatched, isFirst }: Options): EditedSessions {
  const folder = path.join(root, 'sessions');
  const markFile = path.join(root, '.guild', 'sessions-mark');
  /** Candidates and the change times of their files. */
  const open = new Map<string, bigint>();
  /** Files with events since the last look, and the time of the last event in milliseconds. */
  const touched = new Map<string, number>();
  let mark: bigint | undefined;
  /** The mark in the file. */
  let saved: bigint | undefined;
  let highest = 0n;
  let savedAtMs = -Infinity;
  let watcher: fs.FSWatcher | undefined;
  let hasLooked = false;
  let count = 0;

  return {
    look(known) {
      const names = hasLooked && watcher !== undefined ? takeTouched() : allNames();
      hasLooked = true;
      watch();
      for (const { id, at, stamp } of changedSince(names)) {
        if (highest < at) highest = at;
        const last = known(id, stamp)?.messages.at(-1);
        const isPersons = last === undefined ? endsWithPerson(path.join(folder, `${id}${END}`)) : last.role === 'user';
        if (isPersons) open.set(id, at);
        else open.delete(id);
      }
      if (open.size > 0) return [...open.keys()];
      advance();
      if (clock.monotonicMs() - savedAtMs >= INTERVALS.sessionsMarkMs) save();
      return [];
    },
    done(ids) {
      for (const id of ids) open.delete(id);
      advance();
      save();
    },
    close() {
      watcher?.close();
      try {
        save();
      } catch {
        // the disk failed; the next process looks at more files
      }
    },
  };

  function takeTouched(): string[] {
    const isWorkOfOthers = touched.size > FEW && !isFirst();
    const handledMs = isWorkOfOthers ? Number((readMark() ?? 0n) / 1_000_000n) : -Infinity;
    const oldMs = isWorkOfOthers ? clock.now().getTime() - PATIENCE_MS : Infinity;
    const names: string[] = [];
    for (const [name, at] of touched) {
      if (at < handledMs) touched.delete(name);
      else if (at < oldMs) names.push(name);
    }
    for (const name of names) touched.delete(name);
    return names;
  }

  function allNames(): string[] {
    touched.clear();
    const listed = fenced('sessions', () => disk.list(folder, MAX_FILES + 1));
    if (isUnreadable(listed) || listed.length > MAX_FILES) return [];
    return listed.filter((name) => name.endsWith(END) && !name.startsWith('.'));
  }

  function changedSince(names: readonly string[]): Changed[] {
    mark ??= saved = readMark();
    const all = names.flatMap((name): Changed[] => {
      const stamp = fenced(name, () => disk.stamp(path.join(folder, name)));
      if (stamp === undefined || isUnreadable(stamp)) return [];
      return [{ id: name.slice(0, -END.length), at: changedAt(stamp), stamp }];
    });
    if (mark === undefined) return all.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0)).slice(0, MAX_UNMARKED);
    return all.filter(({ id, at }) => at > mark! && open.get(id) !== at);
  }

  /** The end of the file decides: the person's message is the last of the list. */
  function endsWithPerson(file: string): boolean {
    const read = fenced(file, () => {
      const whole = disk.readFrom(file, 0, TAIL_BYTES);
      return whole.kind === 'too_big' ? disk.readFrom(file, whole.size - TAIL_BYTES) : whole;
    });
    if (isUnreadable(read) || read.kind !== 'file') return false;
    const items = [...read.bytes.toString('utf8').matchAll(/^( *)-(?= |$)(?: +role: *["']?(\w+))?/gm)];
    const indent = Math.min(...items.map(([, spaces]) => spaces!.length));
    const last = items.findLast(([, spaces]) => spaces!.length === indent);
    // People also write `human`, put another key first, or use a word that must be reported.
    return !/^(?:assistant|tool|tool_result|function|system|developer)$/.test(last?.[2] ?? '');
  }

  /** Everything up to the mark is handled, so the mark stays below every unhandled change. */
  function advance(): void {
    let next = highest;
    for (const at of open.values()) if (at <= next) next = at - 1n;
    if (next > (mark ?? 0n)) mark = next;
  }

  function save(): void {
    if (mark === saved) return;
    const tmp = path.join(root, '.guild', 'tmp', `${peer}-mark${++count}`);
    disk.makeFolder(path.dirname(tmp), 0o700);
    if (disk.create(tmp, String(mark))) disk.rename(tmp, markFile);
    saved = mark;
    savedAtMs = clock.monotonicMs();
  }

  function readMark(): bigint | undefined {
    const read = disk.read(markFile, 100);
    const text = read.kind === 'file' ? read.bytes.toString('utf8') : '';
    return /^\d+$/.test(text) ? BigInt(text) : undefined;
  }

  function watch(): void {
    if (!isWatched || watcher !== undefined) return;
    try {
      watcher = fs.watch(folder, { persistent: false }, (_, name) => {
        if (name?.endsWith(END) && !name.startsWith('.')) touched.set(name, clock.now().getTime());
      });
      watcher.on('error', () => {
        watcher?.close();
        watcher = undefined;
      });
    } catch {
      // The folder does not exist yet, or no watch is left: every look compares all files.
    }
  }
}
