/**
 * Back-pressure. A teller whose readers are far behind waits for them, a bounded time, after its notes are written: it is slowed,
 * nothing is dropped, and a reader that is dead holds it up once and no more.
 */
import type { Clock } from '../../ports/clock.js';
import { lag, type Channel, type Reader } from './channel.js';

export interface Patience {
  /** Notes that a reader may have before it without slowing anybody. */
  mostUnread: number;
  /** How long one telling is held up at most. */
  patienceMs: number;
}

export const PATIENCE: Patience = { mostUnread: 10_000, patienceMs: 1000 };

/** How often somebody who waits looks at the readers. */
const LOOK_MS = 5;

/** `look`: sees what readers in other processes have done. */
export async function waitForReaders(
  of: Channel,
  clock: Clock,
  { mostUnread, patienceMs }: Patience,
  look: () => void = () => undefined,
): Promise<void> {
  const isSlow = (reader: Reader): boolean => reader.asleepAt !== reader.moves && lag(of, reader) > mostUnread;
  const begun = new Map([...of.readers.values()].filter(isSlow).map((reader) => [reader, reader.moves]));
  if (begun.size === 0) return;
  const until = clock.monotonicMs() + patienceMs;
  // Looks are counted too: a clock that stands still must not hold anybody up for ever.
  for (let looks = 0; looks * LOOK_MS < patienceMs && clock.monotonicMs() < until; looks++) {
    if (![...begun.keys()].some(isSlow)) return;
    await clock.sleep(LOOK_MS);
    await new Promise((resolve) => setImmediate(resolve)); // readers in this process come to their turn, whatever the clock
    look();
  }
  for (const [reader, moves] of begun) if (reader.moves === moves) reader.asleepAt = moves;
}
