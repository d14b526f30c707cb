/**
 * One process writes history at a time. The lock is a file that names its process; it is stale only
 * if exactly that process has ended, never because of its age.
 */
import { parseMapping } from '../../../domain/mapping.js';
import { attempt } from '../../../domain/attempt.js';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Processes, ProcessIdentity } from '../../../ports/processes.js';

interface HistoryLock {
  take(): boolean;
  /** Whether the lock is still this object's, after it was taken. */
  isHeld(): boolean;
  release(): void;
}

const TRIES = 3;
/** Creating a lock and writing its name takes no longer than this. */
const EMPTY_MS = 60_000;

export function historyLock(folder: string, processes: Processes): HistoryLock {
  const file = path.join(folder, 'lock');
  const key = randomBytes(6).toString('hex');
  const own = `${JSON.stringify({ ...processes.me(), key })}\n`;
  return {
    take() {
      if (isHeld()) return true;
      for (let tries = 0; tries < TRIES; tries++) {
        if (create()) {
          sweep();
          return true;
        }
        const holder = readHolder(file);
        if (holder !== undefined && processes.isAlive(holder)) return false;
        removeStale();
      }
      return false;
    },
    isHeld,
    release() {
      if (isHeld()) fs.rmSync(file, { force: true });
    },
  };

  function isHeld(): boolean {
    return readHolder(file)?.key === key;
  }

  /** Linked, so that nobody sees half a name. */
  function create(): boolean {
    const temp = path.join(folder, `lock-${key}.tmp`);
    fs.writeFileSync(temp, own);
    try {
      fs.linkSync(temp, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    } finally {
      fs.rmSync(temp, { force: true });
    }
  }

  /** Removes files that a killed process left before it wrote them, or while it held the lock. */
  function sweep(): void {
    for (const name of fs.readdirSync(folder)) {
      const left = path.join(folder, name);
      const isLeft = /^stamps-.*\.tmp$/.test(name) || (/^lock-.*\.(?:tmp|stale)$/.test(name) && isAbandoned(left));
      const isEmptyList = name.endsWith('.live') && readHolder(left) === undefined && isAbandoned(left);
      if (isLeft || isEmptyList) fs.rmSync(left, { force: true });
    }
  }

  /** An unreadable one is empty: its process just created it, or was killed right after. */
  function isAbandoned(left: string): boolean {
    const holder = readHolder(left);
    if (holder !== undefined) return !processes.isAlive(holder);
    const created = fs.statSync(left, { throwIfNoEntry: false })?.mtimeMs;
    return created !== undefined && Date.now() - created > EMPTY_MS;
  }

  /** Renamed first: of several processes that find it stale, one removes it. */
  function removeStale(): void {
    const aside = path.join(folder, `lock-${key}.stale`);
    try {
      fs.renameSync(file, aside);
      const holder = readHolder(aside);
      if (holder !== undefined && processes.isAlive(holder)) fs.linkSync(aside, file);
    } catch {
      // Another process was first.
    }
    fs.rmSync(aside, { force: true });
  }
}

type Holder = ProcessIdentity & { key?: string };

export function readHolder(file: string): Holder | undefined {
  const [line = ''] = attempt(() => fs.readFileSync(file, 'utf8'), '').split('\n', 1);
  const holder = parseMapping(line);
  return typeof holder?.['pid'] === 'number' ? (holder as unknown as Holder) : undefined;
}
