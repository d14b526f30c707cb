/**
 * Each reader's progress, in `.guild/bus/<channel>/<reader>.json`, replaced atomically. Marks refer
 * to notes by id, so they stay valid when lines move. A lost cursor costs reading notes again,
 * never a note, so cursors are not synced.
 */
import { isMapping, parseMapping } from '../../domain/mapping.js';
import path from 'node:path';
import { safePart } from '../../domain/task/id.js';
import type { Disk } from '../../ports/disk.js';
import { markOf, notesOf, segmentWith, readerOf, sizeOf, type Channel, type Reader } from './channel.js';

interface Cursors {
  /** Loads the progress that another process has saved. */
  refresh(channel: Channel, name: string): Reader;
  /** Call `refresh` for the same reader immediately before `save`. */
  save(channel: Channel, reader: Reader): void;
  /** Refreshes every reader that has a cursor. */
  refreshAll(channel: Channel): void;
}

interface SavedCursor {
  reader: string;
  parts: Record<string, { upTo?: string; also?: string[] }>;
}

/**
 * How many folders to remember as created. Beyond that they are created again, which is harmless.
 */
const MAX_CREATED = 100;

export function cursors(disk: Disk, root: string, peer: string): Cursors {
  const tmp = path.join(root, '.guild', 'tmp');
  const stamps = new WeakMap<Reader, string>();
  const createdFolders = new Set<string>();
  let count = 0;
  const folderOf = (channel: string): string => path.join(root, '.guild', 'bus', safePart(channel));
  const fileOf = (channel: string, reader: string): string => path.join(folderOf(channel), `${safePart(reader)}.json`);

  return {
    refresh,
    save(channel, reader) {
      const file = fileOf(channel.name, reader.name);
      const text = JSON.stringify(cursorOf(channel, reader));
      // Another peer may sweep the temp file, or a person delete the folder. Retry once, then skip.
      if (!replace(file, text) && !replace(file, text)) return;
      stamps.set(reader, disk.stamp(file) ?? '');
    },
    refreshAll(channel) {
      const knownFiles = new Set([...channel.readers.keys()].map((name) => `${safePart(name)}.json`));
      for (const name of channel.readers.keys()) refresh(channel, name);
      for (const file of disk.list(folderOf(channel.name))) {
        if (knownFiles.has(file)) continue;
        const reader = parse(path.join(folderOf(channel.name), file))?.reader;
        if (typeof reader === 'string') refresh(channel, reader);
      }
    },
  };

  function refresh(channel: Channel, name: string): Reader {
    const reader = readerOf(channel, name);
    const file = fileOf(channel.name, name);
    const stamp = disk.stamp(file);
    if (stamp === undefined || stamp === stamps.get(reader)) return reader;
    stamps.set(reader, stamp);
    const saved = parse(file);
    if (saved === undefined) return reader;
    for (const segment of channel.segments) {
      const entry = saved.parts[segment.number];
      if (entry === undefined) continue;
      const mark = markOf(reader, segment.number);
      if (mark.upTo === sizeOf(segment)) continue;
      for (const id of entry.also ?? []) if (segmentWith(channel, id) === segment.number) mark.also.add(id);
      if (segment.evicted !== undefined && segment.evicted.last === entry.upTo) {
        mark.upTo = segment.evicted.size;
        mark.also.clear();
        continue;
      }
      const notes = notesOf(segment);
      const upTo = notes.findIndex((note) => note.id === entry.upTo) + 1;
      for (let i = mark.upTo; i < upTo; i++) mark.also.delete(notes[i]!.id);
      mark.upTo = Math.max(mark.upTo, upTo);
    }
    reader.moves++;
    return reader;
  }

  function replace(file: string, text: string): boolean {
    const folder = path.dirname(file);
    if (!createdFolders.has(folder)) for (const missing of [folder, tmp]) disk.makeFolder(missing, 0o700);
    if (createdFolders.size >= MAX_CREATED) createdFolders.clear();
    createdFolders.add(folder);
    const tmpFile = path.join(tmp, `${peer}-bus${++count}`);
    try {
      disk.create(tmpFile, text);
      if (disk.rename(tmpFile, file)) return true;
      disk.remove(tmpFile);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    createdFolders.delete(folder);
    return false;
  }

  function parse(file: string): SavedCursor | undefined {
    const read = disk.read(file, 64 * 1024 * 1024);
    if (read.kind !== 'file') return undefined;
    // If a power cut has torn it, the notes are read again.
    const cursor = parseMapping(read.bytes.toString('utf8'));
    return isMapping(cursor?.['parts']) ? (cursor as unknown as SavedCursor) : undefined;
  }
}

function cursorOf(channel: Channel, reader: Reader): SavedCursor {
  const parts: SavedCursor['parts'] = {};
  for (const segment of channel.segments) {
    const mark = reader.marks.get(segment.number);
    if (mark === undefined || (mark.upTo === 0 && mark.also.size === 0)) continue;
    const upTo = mark.upTo === segment.evicted?.size ? segment.evicted.last : notesOf(segment)[mark.upTo - 1]?.id;
    parts[segment.number] = { upTo, also: mark.also.size === 0 ? undefined : [...mark.also] };
  }
  return { reader: reader.name, parts };
}
