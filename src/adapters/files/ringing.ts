/**
 * Wakes this process when something changed: on file events, and by checking peers at intervals,
 * because the death of a process changes no file.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { isFew, isWarden, patience, type Rank } from '../../domain/peer.js';
import type { Disk } from '../../ports/disk.js';
import type { Presence as PresencePort } from '../../ports/store/presence.js';
import type { Layout } from './base/layout.js';
import type { Presence } from './base/presence.js';
import { ringPeers, watchWorkspace } from './watcher.js';

interface Dependencies {
  disk: Disk;
  layout: Layout;
  presence: Presence;
  /** Makes the files that dead processes had not written. */
  adoptDead: () => void;
  touched: (file: string) => boolean;
}

export function ringing({
  disk,
  layout,
  presence,
  adoptDead,
  touched,
}: Dependencies): Pick<PresencePort, 'rank' | 'ringOthers' | 'onRing' | 'pace'> {
  return {
    rank,
    ringOthers() {
      if (rank().of > 1) ringPeers(disk, layout, presence.peer.id);
    },
    onRing,
    pace: () => ({ settleMs: INTERVALS.ringSettleMs, busyGapMs: INTERVALS.busyLookMs }),
  };

  function rank(): Rank {
    try {
      return presence.rank();
    } catch {
      return { rank: 0, of: 1 }; // the disk failed; the next scan reports it
    }
  }

  function checkPeers(ring: () => void): void {
    try {
      if (!presence.checkOthers()) return;
      adoptDead();
      ring();
    } catch {
      ring(); // the disk failed; the next scan reports it
    }
  }

  async function onRing(ring: () => void): Promise<() => Promise<void>> {
    let timer: NodeJS.Timeout | undefined;
    let late: NodeJS.Timeout | undefined;
    const schedule = (): void => {
      clearTimeout(timer);
      const me = rank();
      timer = setTimeout(
        check,
        (isFew(me) ? INTERVALS.peerCheckMs : INTERVALS.peerCheckOfManyMs) * patience(me),
      ).unref();
    };
    const peersChanged = (gone: boolean): void => {
      if (isWarden(rank())) ring();
      else if (gone)
        late ??= setTimeout(
          () => ((late = undefined), schedule(), ring()),
          Math.random() * INTERVALS.peerNoticeSpreadMs,
        ).unref();
    };
    const watcher = watchWorkspace(layout, { ring, peers: peersChanged, touched });
    const check = (): void => {
      checkPeers(ring);
      if (watcher.rewatch()) ring();
      schedule();
    };
    schedule();
    return async () => {
      clearTimeout(timer);
      clearTimeout(late);
      watcher.close();
    };
  }
}
