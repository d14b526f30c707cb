/**
 * Notes in plain files, `bus/<channel>.jsonl`, one line each: any process may append, anybody may read along, and a person may add
 * a line. Beside it `memoryBus` keeps the same promises without files.
 */
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { hash53 } from '../../domain/task/id.js';
import { TEAM_CHANNELS, type Note } from '../../domain/coordination/note.js';
import { problem, problemText, type Problem } from '../../domain/problem.js';
import type { Bus } from '../../ports/bus.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import { MAX_NOTE_LINE, printNote } from '../../text/records/note.js';
import { byChannel, channel, done, newest, unread, type Channel } from './channel.js';
import { cursors } from './cursors.js';
import { followFolders } from './follow.js';
import { channelProblem, parsePartFile } from './names.js';
import { partFiles } from './part-files.js';
import { PATIENCE, waitForReaders, type Patience } from './pressure.js';
import { sharedSync } from './shared-sync.js';

export interface BusOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  /** For names of half-done files. */
  peer?: string;
  patience?: Patience;
  /** A file of this size gets a successor. */
  partBytes?: number;
  /** Notes of a channel in memory, beside those of its last file. */
  mostAwake?: number;
  /** Channels in memory that nobody hears by subscription. */
  mostIdle?: number;
}

/** After so many notes it is looked whether readers keep up. */
const CHECK_NOTES = 500;
/** Every team has a channel of its own: those that nobody used for longest are forgotten here, and read again when they are asked for. */
const MOST_IDLE = 50;
/** Of what was wrong with forgotten channels, so much is remembered in order not to tell it twice. */
const MOST_REPORTED = 1000;

export function bus(options: BusOptions): Bus {
  const { root, disk, clock, peer = `x${randomBytes(4).toString('hex')}`, patience = PATIENCE } = options;
  const { mostIdle = MOST_IDLE } = options;
  const folder = path.join(root, 'bus');
  /** The one used last comes last. */
  const known = new Map<string, Channel>();
  const unchecked = new WeakMap<Channel, number>();
  const waiting = new Set<Channel>();
  const reported = new Set<string>();
  let problems: Problem[] = [];
  const now = (): string => clock.now().toISOString();
  const files = partFiles(disk, root, now, report, options);
  const marks = cursors(disk, root, peer);
  const sync = sharedSync(disk);

  return {
    async tell(notes, { durable = false } = {}) {
      const groups: [string, readonly Note[], string[]][] = [];
      for (const [name, own] of byChannel(notes)) {
        const lines = printed(name, own);
        if (!Array.isArray(lines)) return lines;
        groups.push([name, own, lines]);
      }
      const told = groups.map(([name, own, lines]): [Channel, Set<number>, number] => {
        const on = used(name);
        return [on, files.append(on, own, lines), own.length];
      });
      if (durable)
        await Promise.all(
          told.flatMap(([on, numbers]) => [...numbers].map((number) => sync(files.file(on.name, number)))),
        );
      for (const [on, , count] of told) await slowDown(on, count);
      return undefined;
    },
    unread(name, reader, limit) {
      const on = seen(name);
      return on === undefined ? [] : unread(on, marks.refresh(on, reader), now(), limit);
    },
    async done(name, reader, ids) {
      const on = seen(name);
      if (on === undefined || ids.length === 0) return;
      const who = marks.refresh(on, reader);
      if (done(on, who, ids, now())) marks.save(on, who);
    },
    read(name, last) {
      const on = seen(name);
      return on === undefined ? [] : newest(on, now(), last);
    },
    channels() {
      const found = new Set(channelsIn(folder, ''));
      for (const name of disk.list(folder))
        if (!name.includes('.')) for (const one of channelsIn(path.join(folder, name), `${name}/`)) found.add(one);
      return [...found].sort();
    },
    subscribe(name, one) {
      const on = used(name);
      const own = (note: Note): void => one(note);
      on.hearers.add(own);
      return () => void on.hearers.delete(own);
    },
    refresh,
    follow(waits = () => 1) {
      disk.makeFolder(path.join(folder, 'team'));
      const look = (names?: Iterable<string>): void => {
        try {
          if (names === undefined) for (const on of [...known.values()]) files.refresh(on, true);
          else for (const name of names) if (known.has(name)) files.refresh(known.get(name)!);
        } catch {
          // the disk failed: whoever tells or reads next meets it where it can be handled
        }
      };
      return followFolders(
        [
          [folder, ''],
          [path.join(folder, 'team'), TEAM_CHANNELS],
        ],
        look,
        waits,
      );
    },
  };

  function printed(name: string, notes: readonly Note[]): string[] | Problem {
    const wrong = known.has(name) ? undefined : channelProblem(name);
    if (wrong !== undefined) return problem('bad_name', wrong, { hint: 'letters, digits, "-" and "_"' });
    const lines: string[] = [];
    for (const note of notes) {
      if (note.id === '') return problem('bad_field', 'a note needs an id');
      const line = `${printNote(note)}\n`;
      if (line.length > MAX_NOTE_LINE)
        return problem('over_limit', `the note ${note.id} has ${line.length} characters; it may have ${MAX_NOTE_LINE}`);
      lines.push(line);
    }
    return lines;
  }

  /** As it was at the last look; one that is new here is looked at now. */
  function used(name: string): Channel {
    const there = known.get(name);
    const on = there ?? channel(name);
    known.delete(name);
    known.set(name, on);
    if (there === undefined) {
      files.refresh(on);
      forgetIdle(on);
    }
    return on;
  }

  /** All that is forgotten is in its files. */
  function forgetIdle(but: Channel): void {
    const idle = [...known.values()].filter((on) => on !== but && on.hearers.size === 0 && !waiting.has(on));
    for (const { name } of idle.slice(0, Math.max(0, idle.length + 1 - mostIdle))) known.delete(name);
  }

  /** As it is now; undefined if it cannot be one. */
  function seen(name: string): Channel | undefined {
    const isNew = !known.has(name);
    if (isNew && channelProblem(name) !== undefined) return undefined;
    const on = used(name);
    if (!isNew) files.refresh(on);
    return on;
  }

  function report(one: Problem): void {
    const key = hash53(problemText(one));
    if (reported.has(key)) return;
    reported.add(key);
    if (reported.size > MOST_REPORTED) reported.delete(reported.keys().next().value!);
    problems.push(one);
  }

  function refresh(): Problem[] {
    for (const on of [...known.values()]) files.refresh(on);
    const found = problems;
    problems = [];
    return found;
  }

  async function slowDown(on: Channel, count: number): Promise<void> {
    const since = (unchecked.get(on) ?? 0) + count;
    unchecked.set(on, since < CHECK_NOTES ? since : 0);
    if (since < CHECK_NOTES && !waiting.has(on)) return;
    const look = (): void => {
      files.refresh(on);
      marks.refreshAll(on);
    };
    look();
    waiting.add(on);
    await waitForReaders(on, clock, patience, look);
    waiting.delete(on);
  }

  function channelsIn(place: string, before: string): string[] {
    return disk.list(place).flatMap((name) => {
      const part = parsePartFile(name);
      return part === undefined ? [] : [before + part.channel];
    });
  }
}

export { busWorld, memoryBus, type BusWorld } from './memory.js';
