/**
 * Which files changed since the last commit. Each process keeps its list in memory and, shortly
 * after, in a file, so that the next process can commit what a killed one had done. A process that
 * may not write history leaves its list with a message for the one that may.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../../domain/attempt.js';
import type { Processes } from '../../../ports/processes.js';
import { isKeptOut, isProgramsOwn } from './covered.js';
import { readHolder } from './lock.js';

export interface Message {
  subject: string;
  body: string;
}

/** Changes of a process that are not in a commit yet. */
export interface Batch {
  paths: Set<string>;
  /** Absent if the process was killed before it wrote one. */
  message?: Message;
  /** Call when the changes are in a commit. */
  done(): void;
}

interface ChangeLists {
  /**
   * Notes a file that the process is about to change, by its absolute path: if the process is
   * killed, the change is not mistaken for one that a person made.
   */
  changing(file: string): void;
  /** Notes a change. Files elsewhere and those that are kept out are ignored. */
  changed(file: string): void;
  has(path: string): boolean;
  size(): number;
  names(): Iterable<string>;
  /** Takes the list of this process. Call `putBack` if the commit failed. */
  take(): Batch & { putBack(): void };
  /** Leaves a list for the process that is writing history; returns the path of the list. */
  leave(paths: Iterable<string>, message: Message): string;
  /** Lists that others left, oldest first, and whether another process is at work. */
  ofOthers(): { left: Batch[]; isOtherAlive: boolean };
  /** Whether another process has left a list or has ended with one. */
  hasOthers(): boolean;
  /** Removes the file of this process; call when nothing is left to commit. */
  close(): void;
}

const WRITE_DELAY_MS = 200;

export function changeLists(root: string, processes: Processes): ChangeLists {
  const folder = path.join(root, '.guild', 'history');
  const prefix = `${root}${path.sep}`;
  const key = randomBytes(6).toString('hex');
  let count = 0;
  let paths = new Set<string>();
  let unwritten: string[] = [];
  let file: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    changing(changed) {
      const name = nameOf(changed);
      if (name === undefined || (isProgramsOwn(name) && file !== undefined)) return;
      if (!isProgramsOwn(name)) add(name);
      else write();
    },
    changed(changed) {
      const name = nameOf(changed);
      if (name !== undefined) add(name);
    },
    has: (name) => paths.has(name),
    size: () => paths.size,
    names: () => paths,
    take() {
      const [taken, takenFile] = [paths, file];
      const late = unwritten;
      rotate();
      if (takenFile !== undefined) write();
      const done = (): void => removeQuietly(takenFile);
      return {
        paths: taken,
        done,
        putBack() {
          for (const name of paths) taken.add(name);
          paths = taken;
          unwritten.push(...late);
          if (takenFile !== undefined) unwritten.push(...taken);
          write();
          done();
        },
      };
    },
    leave(names, message) {
      const name = `${Date.now().toString(36).padStart(9, '0')}-${key}-${count++}`;
      const left = path.join(folder, `${name}.left`);
      const lines = [JSON.stringify(message), ...[...names].map((entry) => JSON.stringify(entry))];
      fs.writeFileSync(`${left}.tmp`, `${lines.join('\n')}\n`);
      fs.renameSync(`${left}.tmp`, left);
      return left;
    },
    ofOthers,
    hasOthers: () => ofOthers().left.length > 0,
    close() {
      clearTimeout(timer);
      removeQuietly(file);
      file = undefined;
    },
  };

  function nameOf(file: string): string | undefined {
    return file.startsWith(prefix) ? file.slice(prefix.length) : undefined;
  }

  /** The file exists from the first change until the end: others see that this process works. */
  function add(name: string): void {
    if (paths.has(name) || isKeptOut(name)) return;
    paths.add(name);
    unwritten.push(name);
    // In the list of a killed process, only files of the program may be missing.
    if (file === undefined || !isProgramsOwn(name)) write();
    else timer ??= setTimeout(write, WRITE_DELAY_MS).unref();
  }

  function rotate(): void {
    clearTimeout(timer);
    timer = undefined;
    paths = new Set();
    unwritten = [];
    file = undefined;
  }

  /** The list is an aid for the next process; if it cannot be written, work continues. */
  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const lines = unwritten.map((name) => `${JSON.stringify(name)}\n`).join('');
    unwritten = [];
    try {
      if (file === undefined) {
        file = path.join(folder, `${key}-${count++}.live`);
        makeFolder(folder);
        fs.writeFileSync(file, `${JSON.stringify({ ...processes.me(), key })}\n${lines}`);
      } else fs.appendFileSync(file, lines);
    } catch {
      file = undefined;
    }
  }

  function ofOthers(): { left: Batch[]; isOtherAlive: boolean } {
    const left: Batch[] = [];
    let isOtherAlive = false;
    for (const name of namesIn(folder)) {
      const other = path.join(folder, name);
      if (name.startsWith(`${key}-`)) continue;
      if (name.endsWith('.left')) left.push(readBatch(other));
      // Its process is just writing it, or has just removed it.
      if (!name.endsWith('.live') || readText(other) === '') continue;
      const holder = readHolder(other);
      if (holder !== undefined && processes.isAlive(holder)) isOtherAlive = true;
      else {
        const { message: _, ...batch } = readBatch(other);
        left.push({ ...batch, done: () => (removeHalfLists(folder, name), batch.done()) });
      }
    }
    return { left, isOtherAlive };
  }
}

/** A workspace that was deleted as a whole is not created again. */
export function makeFolder(folder: string): void {
  const root = path.dirname(path.dirname(folder));
  if (fs.existsSync(root)) fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
}

/** Lists that the process of this file did not finish writing. */
function removeHalfLists(folder: string, live: string): void {
  const [key] = live.split('-');
  for (const name of namesIn(folder))
    if (name.includes(`-${key}-`) && name.endsWith('.tmp')) removeQuietly(path.join(folder, name));
}

function readBatch(file: string): Batch {
  const [first = '', ...lines] = readText(file).split('\n');
  const message = parse(first) as Record<string, unknown> | undefined;
  const paths = lines.flatMap((line) => {
    const name = parse(line);
    return typeof name === 'string' ? name : [];
  });
  return {
    paths: new Set(paths),
    message: { subject: String(message?.subject ?? ''), body: String(message?.body ?? '') },
    done: () => removeQuietly(file),
  };
}

/** A line that a crash cut off is ignored. */
function parse(line: string): unknown {
  return attempt(() => JSON.parse(line));
}

function readText(file: string): string {
  return attempt(() => fs.readFileSync(file, 'utf8'), '');
}

function namesIn(folder: string): string[] {
  return attempt(() => fs.readdirSync(folder).sort(), []);
}

function removeQuietly(file: string | undefined): void {
  try {
    if (file !== undefined) fs.rmSync(file, { force: true });
  } catch {
    // Its files are then committed once more, without effect.
  }
}
