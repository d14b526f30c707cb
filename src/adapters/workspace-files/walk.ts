/**
 * The text files that a search may read, shallow folders first and messages last. The program's
 * own records are left out unless the search starts there. Links are not followed. Files that the
 * agent may not read without asking are left out.
 */
import fs from 'node:fs';
import type { SearchFile } from '../../ports/workspace-files.js';
import { inFile, inFolder, readHead, type WalkRoot } from './open.js';
import { isOwnSession, isSessionFile } from './session-owner.js';
import { asText } from './text.js';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DEPTH = 24;
const SKIPPED = new Set(['.git', '.guild', 'node_modules', '.venv', '__pycache__']);
const SKIPPED_AT_ROOT = new Set(['events', 'quarantine', 'storage/blobs', 'agents/live']);
/** Messages are many and repetitive, so they are searched last. */
const LAST = new Set(['inbox']);
/** Records repeat what agents said, the query included. The boards in tasks/ are people's. */
const RECORDS = /^(?:sessions|bus|tasks\/[^/]+|results\/\.[^/]*)$/;

export function* filesBelow(
  base: WalkRoot,
  start: string[],
  agent: string,
  mayRead: (path: string) => boolean,
): Generator<SearchFile> {
  if (start.some((part, i) => SKIPPED.has(part) || SKIPPED_AT_ROOT.has(start.slice(0, i + 1).join('/')))) return;
  const queue: string[][] = [start];
  const later: string[][] = [];
  for (let parts = queue.shift(); parts !== undefined; parts = queue.shift() ?? later.shift()) {
    for (const entry of entriesOf(base, parts)) {
      const below = [...parts, entry.name];
      const path = below.join('/');
      if (SKIPPED.has(entry.name) || SKIPPED_AT_ROOT.has(path)) continue;
      if (start.length === 0 && entry.isDirectory() && RECORDS.test(path)) continue;
      if (entry.isDirectory() && below.length <= MAX_DEPTH) {
        (LAST.has(below[0]!) && start.length === 0 ? later : queue).push(below);
      } else if (entry.isFile() && mayRead(path)) {
        yield { path, text: () => textAt(base, below, agent) };
      }
    }
  }
}

/** Empty if the folder has disappeared or cannot be read. */
function entriesOf(base: WalkRoot, parts: string[]): fs.Dirent[] {
  try {
    const entries = inFolder(base, parts, (folder) => fs.readdirSync(folder.at(), { withFileTypes: true }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

function textAt(base: WalkRoot, parts: string[], agent: string): string | undefined {
  try {
    return inFile(base, parts, ({ fd, kind, size }) => {
      if (kind !== 'file' || size > MAX_FILE_BYTES) return undefined;
      const text = asText(readHead(fd, size, MAX_FILE_BYTES), false);
      return text !== undefined && isSessionFile(parts) && !isOwnSession(text, agent) ? undefined : text;
    });
  } catch {
    return undefined;
  }
}
