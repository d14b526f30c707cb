/** Pumps until nothing moves, then sleeps for a ring, the end of something it started, or the clock. */
import { INTERVALS } from '../../domain/intervals.js';
import { patience } from '../../domain/peer.js';
import type { PumpReport, Engine } from './pump.js';
import type { Ports } from '../core/context.js';

export interface WatchOptions {
  signal: AbortSignal;
  /** Called after each pass. */
  onPass?: (report: PumpReport) => void;
}

/** Looking at long folders takes at most one part in this of the time; work goes on from what is known meanwhile. */
const SHARE = 20;
const LONG_MS = 2;
const MOST_REST_MS = 500;
/** Where much is under way a pass takes long; passes then take at most one part in this of the time, and what ends meanwhile shares the next. */
const PASS_SHARE = 4;
const LONG_PASS_MS = 0.5;
const MOST_PASS_REST_MS = 50;
/** So many times longer than the first the next ones wait between two looks. */
const SECOND = 8;

export async function watch(context: Ports, engine: Engine, { signal, onPass }: WatchOptions): Promise<void> {
  const { clock, config } = context;
  let bell = new AbortController();
  /** When it rang first since the last look. */
  let rungAt: number | undefined;
  let ended = false;
  const wake = (): void => bell.abort('rung'); // without a reason, each would make an error and its stack
  const unhook = await context.presence.onRing(() => {
    if (rungAt !== undefined) return;
    rungAt = clock.monotonicMs();
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  await context.presence.join();
  let lastFull = -Infinity;
  let gapMs = rescanGap();
  let restUntil = -Infinity;
  let nextPass = -Infinity;
  try {
    while (!signal.aborted) {
      const due = clock.monotonicMs() - lastFull >= gapMs;
      const look = due ? 'all' : untilLook() <= 0 ? 'changed' : 'none';
      const wasRung = rungAt !== undefined;
      const known = context.tasks.version();
      if (look !== 'none') rungAt = undefined;
      ended = false;
      const from = clock.monotonicMs();
      if (due) lastFull = from;
      const report = await engine.pass(look, (moved) => {
        if (moved || engine.backlog() > 0) {
          ended = true;
          wake();
        }
      });
      const passMs = clock.monotonicMs() - from;
      nextPass = from + (passMs > LONG_PASS_MS ? Math.min(MOST_PASS_REST_MS, PASS_SHARE * passMs) : 0);
      if ((report.scanMs ?? 0) > LONG_MS)
        restUntil = clock.monotonicMs() + Math.min(MOST_REST_MS, SHARE * report.scanMs!);
      if (due && !wasRung && engine.flights.size === 0 && context.tasks.version() !== known)
        context.presence.ringOthers();
      await engine.showRegistry();
      onPass?.(report);
      await flushIfQuiet();
      context.audit.passed(engine.flights.size === 0 ? INTERVALS.commitGapQuietMs : INTERVALS.commitGapBusyMs);
      if (!report.again) await rest(report);
    }
  } finally {
    await unhook();
    await engine.stop();
  }

  /** Until something ended, something is due, or it rang and the folders may be looked at. */
  async function rest({ due = Infinity, untold = Infinity }: PumpReport): Promise<void> {
    gapMs = rescanGap();
    const next = Math.min(due - clock.now().getTime(), untold) + clock.monotonicMs();
    for (;;) {
      const now = clock.monotonicMs();
      if ((ended && now >= nextPass) || signal.aborted) return;
      const wait = Math.min(next - now, lastFull + gapMs - now, untilLook(), ended ? nextPass - now : Infinity);
      bell = new AbortController();
      await clock.sleep(Math.max(1, wait), bell.signal);
      if (clock.monotonicMs() - now >= wait) return;
    }
  }

  /** Infinity: it did not ring. */
  function untilLook(): number {
    return rungAt === undefined ? Infinity : Math.max(rungAt + INTERVALS.ringSettleMs, restUntil) - clock.monotonicMs();
  }

  /** The first process by name looks as often as one alone would, and rings for all. The others only look in case it is paused. */
  function rescanGap(): number {
    const me = context.presence.rank();
    return config.rescanMs * (me.rank === 0 ? 1 : Math.min(SECOND, me.of) * patience(me));
  }

  async function flushIfQuiet(): Promise<void> {
    if (engine.flights.size === 0) await context.flush();
  }
}
