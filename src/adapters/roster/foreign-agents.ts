/**
 * Agent files in a folder that is not a workspace, such as a published collection, in any layout.
 * Every Markdown file whose frontmatter has a name or a description counts, except skills, slash
 * commands and documentation.
 */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { mayBeAgent, mayHoldAgents } from '../../domain/agent/places.js';
import { fenced, isUnreadable } from '../../domain/fence.js';
import { startsLikeAnAgent } from './agent-files.js';

const MAX_FILES = 5000;
const MAX_DEPTH = 6;
const SKIPPED = new Set(['dist', 'vendor']);
/** Folders with a leading dot that may contain agents. */
const DOTTED = new Set(['.agents', '.claude', '.gemini', '.github', '.opencode']);

/** Relative to `root`, sorted. */
export function foreignAgents(root: string): string[] {
  const found: string[] = [];
  const walk = (folder: string, depth: number): void => {
    for (const entry of list(path.join(root, folder))) {
      const file = path.posix.join(folder, entry.name);
      if (found.length >= MAX_FILES) return;
      if (entry.isDirectory() && depth < MAX_DEPTH && isSearched(entry.name)) walk(file, depth + 1);
      else if (entry.isFile() && mayBeAgent(entry.name) && mayStart(path.join(root, file))) found.push(file);
    }
  };
  walk('.', 0);
  return found.sort();
}

function list(folder: string): fs.Dirent[] {
  return attempt(() => fs.readdirSync(folder, { withFileTypes: true }), []);
}

function isSearched(name: string): boolean {
  return name.startsWith('.') ? DOTTED.has(name) : mayHoldAgents(name) && !SKIPPED.has(name);
}

/** A file that cannot be read is loaded like the others, so that its problem is reported. */
function mayStart(file: string): boolean {
  const text = fenced(file, () => firstBytes(file));
  return isUnreadable(text) || startsLikeAnAgent(text);
}

function firstBytes(file: string): string {
  const start = Buffer.alloc(2048);
  const fd = fs.openSync(file, 'r');
  try {
    return start.toString('utf8', 0, fs.readSync(fd, start, 0, start.length, 0));
  } finally {
    fs.closeSync(fd);
  }
}
