/** What is kept beside tasks and conversations: effects (begun, done), blobs by their hash, intents on their way, and history. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Event } from '../../domain/event.js';
import type { Intent } from '../../domain/task/intent.js';
import type { Disk } from '../../ports/disk.js';
import type { Effect, Store } from '../../ports/store.js';
import { parseOutcome, printOutcome } from '../../text/records/outcome.js';
import type { Lag } from './ahead.js';
import { isSettled, type Layout } from './layout.js';
import { syncIfThere, type Writing } from './atomic-write.js';

type RecordVerbs = Pick<
  Store,
  | 'effect'
  | 'begin'
  | 'finish'
  | 'putBlob'
  | 'getBlob'
  | 'showFile'
  | 'submit'
  | 'intents'
  | 'doneIntent'
  | 'record'
  | 'flush'
  | 'events'
>;

const MOST_KEPT = 1000;
/** Some file systems tell times by the second or two: what people want is looked for anew after this, whatever the folder says. */
const BELIEVED_MS = 1000;

/** `isBehind`: this task is not on the disk as it is. Its lines may follow `soon`, what happened together in one go; all others are written at once. */
export function recordVerbs(
  disk: Disk,
  l: Layout,
  writing: Writing,
  now: () => Date,
  isBehind: (task: string) => boolean = () => false,
  soon: Lag = setImmediate,
): RecordVerbs {
  const started = (id: string): string => path.join(l.run, `${id}.started`);
  const done = (id: string): string => path.join(l.run, `${id}.done`);
  const blob = (hash: string): string => path.join(l.blobs, hash);
  /** Blobs that are there; what every conversation of an agent puts again. */
  const kept = new Set<string>();
  const unsynced = new Set<string>();
  const lines: { day: string; line: string }[] = [];
  /** The folder of intents as it was when there were none, and when that was. */
  let noIntents: { stamp: string; at: number } | undefined;
  let broken: { thrown: unknown } | undefined;

  return {
    async effect(id): Promise<Effect> {
      const begun = readJson<{ digest: string; at: string }>(started(id));
      if (begun === undefined) return { state: 'none' };
      const ended = disk.read(done(id));
      const outcome = ended.kind === 'file' ? parseOutcome(ended.bytes.toString('utf8')) : undefined;
      if (outcome === undefined) return { state: 'started', digest: begun.digest, at: begun.at };
      return { state: 'done', digest: begun.digest, outcome };
    },
    begin: (id, digest, what) =>
      writing.createOnce(started(id), JSON.stringify({ digest, what, at: now().toISOString() })),
    async finish(id, outcome) {
      await writing.createOnce(done(id), printOutcome(outcome));
    },
    async putBlob(bytes) {
      const hash = createHash('sha256').update(bytes).digest('hex');
      if (!kept.has(hash) && disk.stamp(blob(hash)) === undefined) await writing.createOnce(blob(hash), bytes);
      if (kept.size < MOST_KEPT) kept.add(hash);
      return hash;
    },
    async getBlob(hash) {
      const read = /^[0-9a-f]{64}$/.test(hash) ? disk.read(blob(hash)) : undefined;
      return read?.kind === 'file' ? read.bytes : undefined;
    },
    showFile: (file, text) => writing.show(path.join(l.root, file), text),
    async submit(intent) {
      const name = `${intent.at.replaceAll(/[^0-9TZ]/g, '')}-${intent.id}.json`;
      await writing.createOnce(path.join(l.intents, name), JSON.stringify(intent));
    },
    async intents() {
      const stamp = disk.stamp(l.intents);
      const at = now().getTime();
      if (stamp !== undefined && stamp === noIntents?.stamp && Math.abs(at - noIntents.at) < BELIEVED_MS) return [];
      const names = disk
        .list(l.intents)
        .filter((name) => name.endsWith('.json'))
        .sort();
      noIntents =
        names.length === 0 && stamp !== undefined && isSettled(stamp, new Date(at)) ? { stamp, at } : undefined;
      return names.flatMap((name) => readJson<Intent>(path.join(l.intents, name)) ?? []);
    },
    async doneIntent(id) {
      for (const name of disk.list(l.intents))
        if (name.endsWith(`-${id}.json`)) disk.remove(path.join(l.intents, name));
    },
    record(event) {
      if (broken !== undefined) throw broken.thrown;
      const day = event.at.slice(0, 10);
      lines.push({ day, line: `${JSON.stringify(event)}\n` });
      if (event.task === undefined || !isBehind(event.task)) writeLines();
      else if (lines.length === 1) soon(writeSoon);
    },
    async flush() {
      if (broken !== undefined) throw broken.thrown;
      writeLines();
      const files = [...unsynced];
      unsynced.clear();
      await Promise.all(files.map((file) => syncIfThere(disk, file)));
    },
    async events({ task, limit = Infinity } = {}) {
      writeLines();
      const found: Event[] = [];
      for (const name of disk
        .list(l.events)
        .filter((one) => one.endsWith('.jsonl'))
        .sort()
        .reverse()) {
        const read = disk.read(path.join(l.events, name));
        if (read.kind !== 'file') continue;
        const lines = read.bytes.toString('utf8').split('\n');
        lines.pop(); // a last line without newline is not yet a line
        for (const line of lines.reverse()) {
          if (found.length >= limit) return found.reverse();
          const event = parseLine(line);
          if (event && (task === undefined || event.task === task)) found.push(event);
        }
      }
      return found.reverse();
    },
  };

  function writeSoon(): void {
    try {
      writeLines();
    } catch (thrown) {
      broken ??= { thrown }; // told to whoever records or flushes next
    }
  }

  function writeLines(): void {
    while (lines.length > 0) {
      const { day } = lines[0]!;
      const ofDay = lines.findIndex((one) => one.day !== day);
      const now = lines.splice(0, ofDay < 0 ? lines.length : ofDay);
      const file = path.join(l.events, `${day}.jsonl`);
      if (!unsynced.has(file) && disk.stamp(file) === undefined) disk.create(file, '');
      append(file, now.map(({ line }) => line).join(''));
      unsynced.add(file);
    }
  }

  /** A person may take it away at any time. */
  function append(file: string, text: string): void {
    try {
      disk.append(file, text);
    } catch (thrown) {
      if (disk.stamp(file) !== undefined || !disk.create(file, text)) throw thrown;
    }
  }

  function readJson<T>(file: string): T | undefined {
    const read = disk.read(file);
    if (read.kind !== 'file') return undefined;
    try {
      return JSON.parse(read.bytes.toString('utf8')) as T;
    } catch {
      return undefined;
    }
  }
}

function parseLine(line: string): Event | undefined {
  try {
    return JSON.parse(line) as Event;
  } catch {
    return undefined; // a torn line of a power cut; its neighbours are read
  }
}
