/**
 * What was said in conversations that have no file yet: one line each in a file of this process, written at once. If the process dies, whoever takes over its tasks
 * makes the conversations from it, so that no answer is asked for, and paid, twice.
 */
import path from 'node:path';
import type { Disk } from '../../ports/disk.js';
import type { Layout } from './layout.js';
import type { Writing } from './writing.js';

export interface Said {
  /** `text`: the whole conversation so far. */
  keep(session: string, text: string): void;
  /** A conversation has its file now. `left`: those that have none yet, and their texts; what was kept of others is not needed any more. */
  settled(left: Iterable<readonly [session: string, text: string]>): void;
  /** Makes the conversations that a dead process had and showed to nobody; how many they were, here and since this process began. */
  adopt(peer: string): number;
  /** Processes that left something. */
  others(): string[];
  close(): void;
}

/** It is begun anew when it is longer than this, and not after every conversation: making and deleting files is dear. */
const MOST_BYTES = 256 * 1024;

export function said(disk: Disk, l: Layout, writing: Writing, peer: string): Said {
  const fileOf = (who: string): string => path.join(l.said, `${who}.jsonl`);
  const own = fileOf(peer);
  let bytes: number | undefined;
  let most = MOST_BYTES;
  const adopted = new Map<string, number>();

  return {
    keep(session, text) {
      const line = lineOf(session, text);
      if (bytes === undefined) disk.create(own, line);
      else disk.append(own, line);
      bytes = (bytes ?? 0) + line.length;
    },
    settled(left) {
      if (bytes === undefined || bytes <= most) return;
      const text = [...left].map((one) => lineOf(...one)).join('');
      if (text === '') clear();
      else {
        writing.show(own, text);
        bytes = text.length;
      }
      most = MOST_BYTES + 2 * (bytes ?? 0);
    },
    adopt(dead) {
      const read = disk.read(fileOf(dead));
      if (read.kind !== 'file') return adopted.get(dead) ?? 0;
      const texts = new Map<string, string>();
      for (const line of read.bytes.toString('utf8').split('\n')) {
        const one = parse(line);
        if (one !== undefined) texts.set(one.session, one.text);
      }
      let made = adopted.get(dead) ?? 0;
      for (const [session, text] of texts)
        if (disk.stamp(l.session(session)) === undefined && writing.showNew(l.session(session), text)) made++;
      disk.remove(fileOf(dead));
      adopted.set(dead, made);
      return made;
    },
    others: () => disk.list(l.said).flatMap((name) => (name.endsWith('.jsonl') ? name.slice(0, -'.jsonl'.length) : [])),
    close: clear,
  };

  function clear(): void {
    if (bytes !== undefined) disk.remove(own);
    bytes = undefined;
  }
}

function lineOf(session: string, text: string): string {
  return `${JSON.stringify({ session, text })}\n`;
}

/** A torn line is one that nobody waited for. */
function parse(line: string): { session: string; text: string } | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as { session: string; text: string });
  } catch {
    return undefined;
  }
}
