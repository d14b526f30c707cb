/**
 * Back-pressure: a writer whose readers are far behind waits for them for a bounded time after its
 * notes are written. Nothing is dropped, and a dead reader delays writers only once.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Clock } from '../../ports/clock.js';
import { lag, type Channel, type Reader } from './channel.js';

export interface Patience {
  /** A reader with more unread notes than this slows writers down. */
  maxUnread: number;
  /** Longest delay of one write. */
  maxWaitMs: number;
}

export const PATIENCE: Patience = { maxUnread: 10_000, maxWaitMs: 1000 };

/** `look` refreshes the progress of readers in other processes. */
export async function waitForReaders(
  channel: Channel,
  clock: Clock,
  { maxUnread, maxWaitMs }: Patience,
  look: () => void | Promise<void> = () => undefined,
): Promise<void> {
  const isSlow = (reader: Reader): boolean => reader.stalledAt !== reader.moves && lag(channel, reader) > maxUnread;
  const slow = new Map([...channel.readers.values()].filter(isSlow).map((reader) => [reader, reader.moves]));
  if (slow.size === 0) return;
  const until = clock.monotonicMs() + maxWaitMs;
  // The checks are counted as well, because a simulated clock may not move.
  for (let looks = 0; looks * INTERVALS.slowReaderCheckMs < maxWaitMs && clock.monotonicMs() < until; looks++) {
    if (![...slow.keys()].some(isSlow)) return;
    await clock.sleep(INTERVALS.slowReaderCheckMs);
    // Lets readers in this process run, independently of the clock.
    await new Promise((resolve) => setImmediate(resolve));
    await look();
  }
  for (const [reader, moves] of slow) if (reader.moves === moves) reader.stalledAt = moves;
}
