/** Pumps until nothing moves, then sleeps for a ring, the end of something it started, or the clock. */
import { patience } from '../domain/peer.js';
import { BUSY_GAP_MS, QUIET_GAP_MS } from './audit.js';
import type { PumpReport, Engine } from './pump.js';
import type { Parts } from './parts.js';

export interface WatchOptions {
  signal: AbortSignal;
  /** Called after each pass. */
  onPass?: (report: PumpReport) => void;
}

/** Rings that come closer together than this share one look at the folders. */
const SETTLE_MS = 15;
/** So many times longer than the first the next ones wait between two looks. */
const SECOND = 8;
const ALONE = { rank: 0, of: 1 };

export async function watch(parts: Parts, engine: Engine, { signal, onPass }: WatchOptions): Promise<void> {
  const { clock, store, config } = parts;
  let bell = new AbortController();
  let rung = false;
  let ended = false;
  const wake = (): void => bell.abort('rung'); // without a reason, each would make an error and its stack
  const unhook = await store.onRing(() => {
    rung = true;
    wake();
  });
  signal.addEventListener('abort', wake, { once: true });
  store.join();
  try {
    let lastFull = -Infinity;
    let gapMs = rescanGap();
    while (!signal.aborted) {
      const due = clock.monotonicMs() - lastFull >= gapMs;
      const look = due ? 'all' : rung ? 'changed' : 'none';
      const wasRung = rung;
      const known = store.changes?.();
      rung = false;
      ended = false;
      bell = new AbortController();
      if (due) lastFull = clock.monotonicMs();
      const report = await engine.pass(look, (moved) => {
        if (moved || engine.backlog() > 0) {
          ended = true;
          wake();
        }
      });
      if (due && !wasRung && engine.flights.size === 0 && store.changes?.() !== known) store.ringOthers?.();
      engine.showRegistry();
      onPass?.(report);
      await flushIfQuiet();
      parts.audit?.passed(engine.flights.size === 0 ? QUIET_GAP_MS : BUSY_GAP_MS);
      if (report.again || ended || signal.aborted) continue;
      gapMs = rescanGap();
      const rescan = lastFull + gapMs - clock.monotonicMs();
      const next = (report.due ?? Infinity) - clock.now().getTime();
      await clock.sleep(
        Math.max(1, Math.min(rescan, next, report.untold ?? Infinity)),
        AbortSignal.any([bell.signal, signal]),
      );
      if (rung && !signal.aborted) await clock.sleep(SETTLE_MS);
    }
  } finally {
    await unhook();
    await engine.stop();
  }

  /** The first process by name looks as often as one alone would, and rings for all. The others only look in case it is paused. */
  function rescanGap(): number {
    const me = store.rank?.() ?? ALONE;
    return config.rescanMs * (me.rank === 0 ? 1 : Math.min(SECOND, me.of) * patience(me));
  }

  async function flushIfQuiet(): Promise<void> {
    if (engine.flights.size === 0) await store.flush();
  }
}
