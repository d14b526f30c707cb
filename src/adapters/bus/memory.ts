/** The bus without files, for tests and simulation. Several processes may share one `busWorld`; it outlives them, as a disk would. */
import { problem } from '../../domain/problem.js';
import type { Note } from '../../domain/coordination/note.js';
import type { Bus } from '../../ports/bus.js';
import type { Clock } from '../../ports/clock.js';
import {
  addNote,
  addPart,
  byChannel,
  channel,
  done,
  dropExpired,
  hear,
  newest,
  readerOf,
  unread,
  type Channel,
} from './channel.js';
import { MAX_NOTE_LINE } from '../../text/records/note.js';
import { channelProblem } from './names.js';
import { PATIENCE, waitForReaders, type Patience } from './pressure.js';

export type BusWorld = Map<string, Channel>;

export function busWorld(): BusWorld {
  return new Map();
}

/** Notes in one part. */
const PART_NOTES = 10_000;

export function memoryBus({
  clock,
  world = busWorld(),
  patience = PATIENCE,
}: {
  clock: Clock;
  world?: BusWorld;
  patience?: Patience;
}): Bus {
  const now = (): string => clock.now().toISOString();
  const at = (name: string): Channel => {
    let found = world.get(name);
    if (found === undefined) world.set(name, (found = channel(name)));
    return found;
  };

  return {
    async tell(notes) {
      const groups = [...byChannel(notes)];
      for (const [name, own] of groups) {
        const wrong = world.has(name) ? undefined : channelProblem(name);
        if (wrong !== undefined) return problem('bad_name', wrong);
        for (const { body } of own)
          if (body.type === 'said' && body.text.length > MAX_NOTE_LINE)
            return problem('over_limit', `a note may have ${MAX_NOTE_LINE} characters`);
      }
      for (const [name, own] of groups) {
        const on = at(name);
        let part = on.parts.at(-1) ?? addPart(on, 1);
        if (part.notes.length >= PART_NOTES) {
          part = addPart(on, part.number + 1);
          const then = now();
          while (dropExpired(on, then));
        }
        hear(
          on,
          own.filter((note) => addNote(on, part, note)),
        );
        if (on.readers.size > 0) await waitForReaders(on, clock, patience);
      }
      return undefined;
    },
    unread: (name, reader, limit) =>
      world.has(name) ? unread(at(name), readerOf(at(name), reader), now(), limit) : [],
    async done(name, reader, ids) {
      if (world.has(name)) done(at(name), readerOf(at(name), reader), ids, now());
    },
    read: (name, last) => (world.has(name) ? newest(at(name), now(), last) : []),
    channels: () => [...world].flatMap(([name, { parts }]) => (parts.length > 0 ? [name] : [])).sort(),
    subscribe(name, one) {
      const own = (note: Note): void => one(note);
      at(name).hearers.add(own);
      return () => void at(name).hearers.delete(own);
    },
    refresh: () => [],
    follow: () => () => undefined,
  };
}
