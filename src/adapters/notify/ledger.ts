/**
 * Which notices have been sent, so that several processes send each at most once:
 * `.guild/notified`. A process claims a notice by creating its file, and marks it right before it
 * sends. If it dies in between, nothing was sent, and the next process claims the next number.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { NearNotices, NoticeName } from '../../ports/store/notices.js';

const KEPT_MS = 30 * 24 * 3600 * 1000;
const MAX_CLAIMS = 9;

export function notifyLedger(root: string, peer: string): NearNotices {
  const folder = path.join(root, '.guild', 'notified');
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const start = path.join(folder, 'since');
  create(start, '');
  forgetOld(folder);
  const nameOf = ({ kind, task }: NoticeName): string =>
    path.join(folder, `${kind}-${createHash('sha256').update(task).digest('hex').slice(0, 20)}`);
  /** The number of the next claim; undefined if it is claimed by a live process, or sent. */
  const next = (notice: NoticeName, isAlive: (peer: string) => boolean): number | undefined => {
    const name = nameOf(notice);
    if (fs.existsSync(`${name}.sent`)) return undefined;
    for (let n = 1; n <= MAX_CLAIMS; n++) {
      const holder = read(`${name}.${n}`);
      if (holder === undefined) return n;
      if (holder === peer || isAlive(holder)) return undefined;
    }
    return undefined;
  };
  return {
    since: () => fs.statSync(start).mtime,
    isKnown: (notice, isAlive) => next(notice, isAlive) === undefined,
    claim(notice, isAlive) {
      const n = next(notice, isAlive);
      if (n === undefined || !create(`${nameOf(notice)}.${n}`, peer)) return false;
      // It may have been sent between the look and the claim.
      return !fs.existsSync(`${nameOf(notice)}.sent`);
    },
    sent: (notice) => void create(`${nameOf(notice)}.sent`, peer),
  };

  /** Never seen half-written; false if it is there. */
  function create(file: string, text: string): boolean {
    const tmp = path.join(folder, `tmp-${peer}`);
    fs.writeFileSync(tmp, text, { mode: 0o600 });
    try {
      fs.linkSync(tmp, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      fs.rmSync(tmp, { force: true });
    }
  }
}

function read(file: string): string | undefined {
  return attempt(() => fs.readFileSync(file, 'utf8'));
}

function forgetOld(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (name === 'since') continue;
    const file = path.join(folder, name);
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > KEPT_MS) fs.rmSync(file, { force: true });
  }
}
