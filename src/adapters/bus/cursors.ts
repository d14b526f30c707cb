/**
 * What each reader has done with, kept in `.guild/bus/<channel>/<reader>.json` and replaced whole. Marks name notes by their ids, so they
 * hold whatever happens to the lines. Losing one costs reading again, never a note, so it is not synced.
 */
import path from 'node:path';
import { safePart } from '../../domain/task/id.js';
import type { Disk } from '../../ports/disk.js';
import { markOf, notesOf, partWith, readerOf, sizeOf, type Channel, type Reader } from './channel.js';

interface Cursors {
  /** What the file says and this process does not know yet, because another one wrote it. */
  refresh(on: Channel, name: string): Reader;
  /** Of a reader that was refreshed right before. */
  save(on: Channel, reader: Reader): void;
  /** Every reader that has a cursor. */
  refreshAll(on: Channel): void;
}

interface Kept {
  reader: string;
  parts: Record<string, { upTo?: string; also?: string[] }>;
}

/** Folders that are known to be there; of more of them some are made once more, which does nothing. */
const MOST_MADE = 100;

export function cursors(disk: Disk, root: string, peer: string): Cursors {
  const tmp = path.join(root, '.guild', 'tmp');
  const stamps = new WeakMap<Reader, string>();
  const made = new Set<string>();
  let count = 0;
  const folderOf = (channel: string): string => path.join(root, '.guild', 'bus', safePart(channel));
  const fileOf = (channel: string, reader: string): string => path.join(folderOf(channel), `${safePart(reader)}.json`);

  return {
    refresh,
    save(on, reader) {
      const file = fileOf(on.name, reader.name);
      const text = JSON.stringify(kept(on, reader));
      // Gone if somebody took us for dead and swept, or took the folder away: once more, and else it is written next time.
      if (!replace(file, text) && !replace(file, text)) return;
      stamps.set(reader, disk.stamp(file) ?? '');
    },
    refreshAll(on) {
      const known = new Set([...on.readers.keys()].map((name) => `${safePart(name)}.json`));
      for (const name of on.readers.keys()) refresh(on, name);
      for (const file of disk.list(folderOf(on.name))) {
        if (known.has(file)) continue;
        const reader = parse(path.join(folderOf(on.name), file))?.reader;
        if (typeof reader === 'string') refresh(on, reader);
      }
    },
  };

  function refresh(on: Channel, name: string): Reader {
    const reader = readerOf(on, name);
    const file = fileOf(on.name, name);
    const stamp = disk.stamp(file);
    if (stamp === undefined || stamp === stamps.get(reader)) return reader;
    stamps.set(reader, stamp);
    const found = parse(file);
    if (found === undefined) return reader;
    for (const part of on.parts) {
      const said = found.parts[part.number];
      if (said === undefined) continue;
      const mark = markOf(reader, part.number);
      if (mark.upTo === sizeOf(part)) continue;
      for (const id of said.also ?? []) if (partWith(on, id) === part.number) mark.also.add(id);
      if (part.resting !== undefined && part.resting.last === said.upTo) {
        mark.upTo = part.resting.size;
        mark.also.clear();
        continue;
      }
      const notes = notesOf(part);
      const upTo = notes.findIndex((note) => note.id === said.upTo) + 1;
      for (let i = mark.upTo; i < upTo; i++) mark.also.delete(notes[i]!.id);
      mark.upTo = Math.max(mark.upTo, upTo);
    }
    reader.moves++;
    return reader;
  }

  function replace(file: string, text: string): boolean {
    const folder = path.dirname(file);
    if (!made.has(folder)) for (const one of [folder, tmp]) disk.makeFolder(one, 0o700);
    if (made.size >= MOST_MADE) made.clear();
    made.add(folder);
    const aside = path.join(tmp, `${peer}-bus${++count}`);
    try {
      disk.create(aside, text);
      if (disk.rename(aside, file)) return true;
      disk.remove(aside);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    made.delete(folder);
    return false;
  }

  function parse(file: string): Kept | undefined {
    const read = disk.read(file, 64 * 1024 * 1024);
    if (read.kind !== 'file') return undefined;
    try {
      const given = JSON.parse(read.bytes.toString('utf8')) as Kept;
      return typeof given.parts === 'object' && given.parts !== null ? given : undefined;
    } catch {
      return undefined; // torn by a power cut: its notes are read again
    }
  }
}

function kept(on: Channel, reader: Reader): Kept {
  const parts: Kept['parts'] = {};
  for (const part of on.parts) {
    const mark = reader.marks.get(part.number);
    if (mark === undefined || (mark.upTo === 0 && mark.also.size === 0)) continue;
    const upTo = mark.upTo === part.resting?.size ? part.resting.last : notesOf(part)[mark.upTo - 1]?.id;
    parts[part.number] = {
      ...(upTo === undefined ? {} : { upTo }),
      ...(mark.also.size === 0 ? {} : { also: [...mark.also] }),
    };
  }
  return { reader: reader.name, parts };
}
