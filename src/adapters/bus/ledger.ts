/**
 * The bus on a ledger: a log of notes for each channel, and a log of what readers have finished.
 * Notes of other processes arrive with `refresh`. Of several notes with one id the first counts.
 */
import { parseMapping } from '../../domain/mapping.js';
import { INTERVALS } from '../../domain/intervals.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Note } from '../../domain/coordination/note.js';
import type { Bus } from '../../ports/bus.js';
import type { Clock } from '../../ports/clock.js';
import type { Add, Ledger, Topic } from '../../ports/ledger.js';
import { MAX_NOTE_LINE, printNote, readNote } from '../../text/records/note.js';
import * as channels from './channel.js';
import { channelProblem } from './names.js';
import { PATIENCE, waitForReaders, type Patience } from './pressure.js';

interface LedgerBusOptions {
  clock: Clock;
  ledger: Pick<Ledger, 'newLines' | 'onRing'>;
  /** The queue of the process's commits. */
  outbox: { line(add: Add, topic: Topic): void; flush(): Promise<void>; sent(): Promise<void> };
  freshness(topic: Topic): Freshness;
  patience?: Patience;
}

/** Whether the last look at the channels is recent enough. */
interface Freshness {
  began(): void;
  ended(): void;
  isFresh(maxAgeMs: number): boolean;
  listen(): Promise<void>;
}

/** Notes that one reader has finished. */
interface Done {
  reader: string;
  ids: string[];
}

const NOTES = 'bus/';
const DONE = 'bus-done/';
const SEGMENT_NOTES = 10_000;

export function ledgerBus({ clock, ledger, outbox, freshness, patience = PATIENCE }: LedgerBusOptions): Bus {
  const fresh = freshness('notes');
  const all = new Map<string, channels.Channel>();
  const ends = new Map<string, number>();
  let mark: string | undefined;
  let current: Promise<void> | undefined;
  let following: Promise<void> | undefined;
  const now = (): string => clock.now().toISOString();

  return {
    async tell(notes, { durable = false } = {}) {
      const refused = firstProblem(notes);
      if (refused !== undefined) return refused;
      for (const note of notes) outbox.line({ log: NOTES + note.channel, text: printNote(note) }, 'notes');
      await (durable ? outbox.flush() : outbox.sent());
      await catchUp();
      for (const [name] of channels.byChannel(notes)) {
        const channel = channelOf(name);
        if (channel.readers.size > 0) await waitForReaders(channel, clock, patience, catchUp);
      }
      return undefined;
    },
    unread(name, reader, limit) {
      const channel = all.get(name);
      return channel === undefined ? [] : channels.unread(channel, channels.readerOf(channel, reader), now(), limit);
    },
    async done(name, reader, ids) {
      const done: Done = { reader, ids: [...ids] };
      outbox.line({ log: DONE + name, text: JSON.stringify(done) }, 'notes');
      const channel = channelOf(name);
      channels.markDone(channel, channels.readerOf(channel, reader), ids, now());
      await outbox.flush();
    },
    read(name, last) {
      const channel = all.get(name);
      return channel === undefined ? [] : channels.newest(channel, now(), last);
    },
    channels: () => [...all].flatMap(([name, { segments }]) => (segments.length > 0 ? [name] : [])).sort(),
    subscribe(name, hear) {
      // A new function for each subscription, so that the same callback can subscribe twice.
      const subscriber = (note: Note): void => hear(note);
      channelOf(name).subscribers.add(subscriber);
      return () => void channelOf(name).subscribers.delete(subscriber);
    },
    async refresh({ maxAgeMs = 0 } = {}) {
      if (maxAgeMs > 0) await fresh.listen();
      if (!fresh.isFresh(maxAgeMs)) await catchUp();
      return [];
    },
    follow(factor = () => 1) {
      let isStopped = false;
      // If the ledger is away, every pass reports that as a problem of the store.
      const look = (): void => void (isStopped ? undefined : catchUp().catch(() => undefined));
      const listening = ledger.onRing(look, ['notes']).catch(() => undefined);
      const timer = setInterval(look, INTERVALS.channelCheckMs * factor());
      timer.unref();
      return () => {
        isStopped = true;
        clearInterval(timer);
        void listening.then((stop) => stop?.());
      };
    },
  };

  function channelOf(name: string): channels.Channel {
    let channel = all.get(name);
    if (channel === undefined) all.set(name, (channel = channels.createChannel(name)));
    return channel;
  }

  function firstProblem(notes: readonly Note[]): Problem | undefined {
    for (const { channel, body } of notes) {
      const reason = channelProblem(channel);
      if (reason !== undefined) return problem('bad_name', reason);
      if (body.type === 'said' && body.text.length > MAX_NOTE_LINE)
        return problem('over_limit', `a note may have at most ${MAX_NOTE_LINE} characters`);
    }
    return undefined;
  }

  /** A look in progress may miss what was just written, so a second look follows. */
  function catchUp(): Promise<void> {
    if (current === undefined) {
      current = readOn().finally(() => (current = undefined));
      return current;
    }
    following ??= current
      .catch(() => undefined)
      .then(() => {
        following = undefined;
        return catchUp();
      });
    return following;
  }

  /** Notes and done marks come from one moment, so every note that is done is known. */
  async function readOn(): Promise<void> {
    fresh.began();
    const { logs, mark: next } = await ledger.newLines([NOTES, DONE], { mark, ends });
    for (const [log, { texts, end }] of logs) {
      if (log.startsWith(NOTES)) add(log.slice(NOTES.length), texts);
      ends.set(log, end);
    }
    for (const [log, { texts }] of logs) if (log.startsWith(DONE)) addDone(log.slice(DONE.length), texts);
    mark = next;
    fresh.ended();
  }

  function addDone(name: string, texts: readonly string[]): void {
    const channel = channelOf(name);
    for (const { reader, ids } of texts.flatMap(doneIn))
      channels.markDone(channel, channels.readerOf(channel, reader), ids, now());
  }

  function add(name: string, texts: readonly string[]): void {
    const channel = channelOf(name);
    const heard: Note[] = [];
    for (const text of texts) {
      const read = readNote(text, { channel: name, file: '', line: 0, at: now() });
      if (!read.ok) continue;
      let segment = channel.segments.at(-1) ?? channels.addSegment(channel, 1);
      if (segment.notes.length >= SEGMENT_NOTES) {
        segment = channels.addSegment(channel, segment.number + 1);
        while (channels.dropExpired(channel, now()));
      }
      if (channels.addNote(channel, segment, read.note)) heard.push(read.note);
    }
    channels.notify(channel, heard);
  }
}

/** Empty for a line that is damaged: any worker can write one. */
function doneIn(text: string): Done[] {
  const { reader, ids } = parseMapping(text) ?? {};
  return typeof reader === 'string' && Array.isArray(ids) ? [{ reader, ids: ids.map(String) }] : [];
}
