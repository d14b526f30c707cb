/**
 * The bus without files, for tests and simulation. Several simulated processes may share a
 * `busWorld`, which outlives them like a disk.
 */
import { problem } from '../../../src/domain/problem.js';
import type { Note } from '../../../src/domain/coordination/note.js';
import type { NearBus } from '../../../src/ports/bus.js';
import type { Clock } from '../../../src/ports/clock.js';
import {
  addNote,
  addSegment,
  byChannel,
  createChannel,
  markDone,
  dropExpired,
  notify,
  newest,
  readerOf,
  unread,
  type Channel,
} from '../../../src/adapters/bus/channel.js';
import { MAX_NOTE_LINE } from '../../../src/text/records/note.js';
import { channelProblem } from '../../../src/adapters/bus/names.js';
import { PATIENCE, waitForReaders, type Patience } from '../../../src/adapters/bus/pressure.js';

type BusWorld = Map<string, Channel>;

export function busWorld(): BusWorld {
  return new Map();
}

/** Notes per segment. */
const SEGMENT_NOTES = 10_000;

export function memoryBus({
  clock,
  world = busWorld(),
  patience = PATIENCE,
}: {
  clock: Clock;
  world?: BusWorld;
  patience?: Patience;
}): NearBus {
  const now = (): string => clock.now().toISOString();
  const channelOf = (name: string): Channel => {
    let channel = world.get(name);
    if (channel === undefined) world.set(name, (channel = createChannel(name)));
    return channel;
  };

  return {
    async tell(notes) {
      const groups = [...byChannel(notes)];
      for (const [name, group] of groups) {
        const reason = world.has(name) ? undefined : channelProblem(name);
        if (reason !== undefined) return problem('bad_name', reason);
        for (const { body } of group)
          if (body.type === 'said' && body.text.length > MAX_NOTE_LINE)
            return problem('over_limit', `a note may have at most ${MAX_NOTE_LINE} characters`);
      }
      for (const [name, own] of groups) {
        const channel = channelOf(name);
        let segment = channel.segments.at(-1) ?? addSegment(channel, 1);
        if (segment.notes.length >= SEGMENT_NOTES) {
          segment = addSegment(channel, segment.number + 1);
          const time = now();
          while (dropExpired(channel, time));
        }
        notify(
          channel,
          own.filter((note) => addNote(channel, segment, note)),
        );
        if (channel.readers.size > 0) await waitForReaders(channel, clock, patience);
      }
      return undefined;
    },
    unread: (name, reader, limit) =>
      world.has(name) ? unread(channelOf(name), readerOf(channelOf(name), reader), now(), limit) : [],
    async done(name, reader, ids) {
      if (world.has(name)) markDone(channelOf(name), readerOf(channelOf(name), reader), ids, now());
    },
    read: (name, last) => (world.has(name) ? newest(channelOf(name), now(), last) : []),
    channels: () => [...world].flatMap(([name, { segments }]) => (segments.length > 0 ? [name] : [])).sort(),
    subscribe(name, hear) {
      // A new function each time, so that the same callback can subscribe twice.
      const subscriber = (note: Note): void => hear(note);
      channelOf(name).subscribers.add(subscriber);
      return () => void channelOf(name).subscribers.delete(subscriber);
    },
    refresh: () => [],
    follow: () => () => undefined,
  };
}
