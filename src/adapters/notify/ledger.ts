/**
 * Which notices have been sent, so that several processes send each at most once:
 * `.guild/notified`. A process claims a notice by creating its file, and marks it right before it
 * sends. If it dies in between, nothing was sent, and the next process claims the next number.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import { writtenAt } from '../../domain/stamp.js';
import type { Disk } from '../../ports/disk.js';
import type { NearNotices, NoticeName } from '../../ports/store/notices.js';

const KEPT_MS = 30 * 24 * 3600 * 1000;
const MAX_CLAIMS = 9;
const MAX_NAME_BYTES = 1000;

export function notifyLedger(disk: Disk, root: string, peer: string): NearNotices {
  const folder = path.join(root, '.guild', 'notified');
  disk.makeFolder(folder, 0o700);
  const start = path.join(folder, 'since');
  create(start, '');
  forgetOld(disk, folder);
  const nameOf = ({ kind, task }: NoticeName): string =>
    path.join(folder, `${kind}-${createHash('sha256').update(task).digest('hex').slice(0, 20)}`);
  const isSent = (notice: NoticeName): boolean => disk.stamp(`${nameOf(notice)}.sent`) !== undefined;
  /** The number of the next claim; undefined if it is claimed by a live process, or sent. */
  const next = (notice: NoticeName, isAlive: (peer: string) => boolean): number | undefined => {
    if (isSent(notice)) return undefined;
    for (let n = 1; n <= MAX_CLAIMS; n++) {
      const read = disk.read(`${nameOf(notice)}.${n}`, MAX_NAME_BYTES);
      if (read.kind === 'missing') return n;
      // Anything else was not written by this program.
      const holder = read.kind === 'file' ? read.bytes.toString('utf8') : undefined;
      if (holder !== undefined && (holder === peer || isAlive(holder))) return undefined;
    }
    return undefined;
  };
  return {
    since: () => new Date(writtenMs(disk.stamp(start)) ?? Date.now()),
    isKnown: (notice, isAlive) => next(notice, isAlive) === undefined,
    claim(notice, isAlive) {
      const n = next(notice, isAlive);
      if (n === undefined || !create(`${nameOf(notice)}.${n}`, peer)) return false;
      // It may have been sent between the look and the claim.
      return !isSent(notice);
    },
    sent: (notice) => void create(`${nameOf(notice)}.sent`, peer),
  };

  /** Never visible half-written; false if it already exists. */
  function create(file: string, text: string): boolean {
    const tmp = path.join(folder, `tmp-${peer}`);
    disk.remove(tmp);
    disk.create(tmp, text);
    try {
      return disk.link(tmp, file);
    } finally {
      disk.remove(tmp);
    }
  }
}

function forgetOld(disk: Disk, folder: string): void {
  for (const name of disk.list(folder)) {
    if (name === 'since') continue;
    const file = path.join(folder, name);
    const written = writtenMs(disk.stamp(file));
    // Removing a folder this way fails, which is harmless.
    if (written !== undefined && Date.now() - written > KEPT_MS) attempt(() => disk.remove(file));
  }
}

function writtenMs(stamp: string | undefined): number | undefined {
  return stamp === undefined ? undefined : Number(writtenAt(stamp) / 1_000_000n);
}
