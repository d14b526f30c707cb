/**
 * The bus as plain files, `bus/<channel>.jsonl` with one note per line. Any process may append, and
 * a person may read along or add a line.
 */
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { hash53 } from '../../domain/task/id.js';
import { TEAM_CHANNELS, type Note } from '../../domain/coordination/note.js';
import { problem, problemText, type Problem } from '../../domain/problem.js';
import type { NearBus } from '../../ports/bus.js';
import type { Clock } from '../../ports/clock.js';
import type { Disk } from '../../ports/disk.js';
import { MAX_NOTE_LINE, printNote } from '../../text/records/note.js';
import { byChannel, createChannel, markDone, newest, unread, type Channel } from './channel.js';
import { cursors } from './cursors.js';
import { followFolders } from './follow.js';
import { channelProblem, parseSegmentFile } from './names.js';
import { segmentFiles } from './segment-files.js';
import { PATIENCE, waitForReaders, type Patience } from './pressure.js';

export interface BusOptions {
  root: string;
  disk: Disk;
  clock: Clock;
  /** Prefix of temporary file names. */
  peer?: string;
  patience?: Patience;
  /** A file of this size gets a successor. */
  segmentBytes?: number;
  /** How many notes of a channel stay in memory, besides those of its last file. */
  maxLoaded?: number;
  /** How many channels without subscribers stay in memory. */
  maxIdle?: number;
}

/** How many notes are written between checks of whether readers keep up. */
const CHECK_NOTES = 500;
/** Every team has its own channel, so the least recently used ones are dropped from memory. */
const MAX_IDLE = 50;
/** How many problems to remember in order not to report them twice. */
const MAX_REPORTED = 1000;

export function bus(options: BusOptions): NearBus {
  const { root, disk, clock, peer = `x${randomBytes(4).toString('hex')}`, patience = PATIENCE } = options;
  const { maxIdle = MAX_IDLE } = options;
  const folder = path.join(root, 'bus');
  /** Least recently used first. */
  const channels = new Map<string, Channel>();
  const unchecked = new WeakMap<Channel, number>();
  const waiting = new Set<Channel>();
  const reported = new Set<string>();
  let problems: Problem[] = [];
  const now = (): string => clock.now().toISOString();
  const files = segmentFiles(disk, root, now, report, options);
  const marks = cursors(disk, root, peer);
  /** Files whose names are on the device. */
  const named = new Set<string>();

  return {
    async tell(notes, { durable = false } = {}) {
      const groups: [string, readonly Note[], string[]][] = [];
      for (const [name, group] of byChannel(notes)) {
        const lines = printLines(name, group);
        if (!Array.isArray(lines)) return lines;
        groups.push([name, group, lines]);
      }
      const written = groups.map(([name, group, lines]): [Channel, Set<number>, number] => {
        const channel = open(name);
        return [channel, files.append(channel, group, lines), group.length];
      });
      if (durable)
        await Promise.all(
          written.flatMap(([channel, numbers]) => [...numbers].map((number) => sync(files.file(channel.name, number)))),
        );
      for (const [channel, , count] of written) await applyBackPressure(channel, count);
      return undefined;
    },
    unread(name, reader, limit) {
      const channel = refreshed(name);
      return channel === undefined ? [] : unread(channel, marks.refresh(channel, reader), now(), limit);
    },
    async done(name, reader, ids) {
      const channel = refreshed(name);
      if (channel === undefined || ids.length === 0) return;
      const entry = marks.refresh(channel, reader);
      if (markDone(channel, entry, ids, now())) marks.save(channel, entry);
    },
    read(name, last) {
      const channel = refreshed(name);
      return channel === undefined ? [] : newest(channel, now(), last);
    },
    channels() {
      const subfolders = disk.list(folder).filter((name) => !name.includes('.'));
      const nested = subfolders.flatMap((name) => channelsIn(path.join(folder, name), `${name}/`));
      return [...new Set([...channelsIn(folder, ''), ...nested])].sort();
    },
    subscribe(name, hear) {
      const channel = open(name);
      // A new function for each subscription, so that the same callback can subscribe twice.
      const subscriber = (note: Note): void => hear(note);
      channel.subscribers.add(subscriber);
      return () => void channel.subscribers.delete(subscriber);
    },
    refresh,
    follow(intervalFactor = () => 1) {
      disk.makeFolder(path.join(folder, 'team'));
      const look = (names?: Iterable<string>): void => {
        try {
          if (names === undefined) for (const channel of [...channels.values()]) files.refresh(channel, true);
          else for (const name of names) if (channels.has(name)) files.refresh(channels.get(name)!);
        } catch {
          // The disk failed. The next write or read meets the same error where it can be handled.
        }
      };
      return followFolders(
        [
          [folder, ''],
          [path.join(folder, 'team'), TEAM_CHANNELS],
        ],
        look,
        intervalFactor,
      );
    },
  };

  function printLines(name: string, notes: readonly Note[]): string[] | Problem {
    const reason = channels.has(name) ? undefined : channelProblem(name);
    if (reason !== undefined) return problem('bad_name', reason, { hint: 'use letters, digits, "-" and "_"' });
    const lines: string[] = [];
    for (const note of notes) {
      if (note.id === '') return problem('bad_field', 'a note needs an id');
      const line = `${printNote(note)}\n`;
      if (line.length > MAX_NOTE_LINE)
        return problem('over_limit', `note ${note.id} has ${line.length} characters; the limit is ${MAX_NOTE_LINE}`);
      lines.push(line);
    }
    return lines;
  }

  async function sync(file: string): Promise<void> {
    await disk.sync(file);
    if (named.has(file)) return;
    await disk.syncFolder(path.dirname(file));
    named.add(file);
  }

  /** The channel as of its last refresh. A channel that is not in memory is read now. */
  function open(name: string): Channel {
    const existing = channels.get(name);
    const channel = existing ?? createChannel(name);
    channels.delete(name);
    channels.set(name, channel);
    if (existing === undefined) {
      files.refresh(channel);
      forgetIdle(channel);
    }
    return channel;
  }

  /** Dropped channels lose nothing: their notes are in files. */
  function forgetIdle(except: Channel): void {
    const idle = [...channels.values()].filter(
      (channel) => channel !== except && channel.subscribers.size === 0 && !waiting.has(channel),
    );
    for (const { name } of idle.slice(0, Math.max(0, idle.length + 1 - maxIdle))) channels.delete(name);
  }

  function refreshed(name: string): Channel | undefined {
    const isNew = !channels.has(name);
    if (isNew && channelProblem(name) !== undefined) return undefined;
    const channel = open(name);
    if (!isNew) files.refresh(channel);
    return channel;
  }

  function report(finding: Problem): void {
    const key = hash53(problemText(finding));
    if (reported.has(key)) return;
    reported.add(key);
    if (reported.size > MAX_REPORTED) reported.delete(reported.keys().next().value!);
    problems.push(finding);
  }

  function refresh(): Problem[] {
    for (const channel of [...channels.values()]) files.refresh(channel);
    const unreported = problems;
    problems = [];
    return unreported;
  }

  async function applyBackPressure(channel: Channel, count: number): Promise<void> {
    const since = (unchecked.get(channel) ?? 0) + count;
    unchecked.set(channel, since < CHECK_NOTES ? since : 0);
    if (since < CHECK_NOTES && !waiting.has(channel)) return;
    const look = (): void => {
      files.refresh(channel);
      marks.refreshAll(channel);
    };
    look();
    waiting.add(channel);
    await waitForReaders(channel, clock, patience, look);
    waiting.delete(channel);
  }

  function channelsIn(place: string, prefix: string): string[] {
    return disk.list(place).flatMap((name) => {
      const segment = parseSegmentFile(name);
      return segment === undefined ? [] : [prefix + segment.channel];
    });
  }
}
