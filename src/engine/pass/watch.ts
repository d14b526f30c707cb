/**
 * Works until it is told to stop: passes, then sleeps for a ring, the end of something it started,
 * or the clock.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { patience } from '../../domain/peer.js';
import type { Ports } from '../core/context.js';
import type { Engine, Look, PumpReport } from './pump.js';
import { runUntil, type Condition } from './run-until.js';

export interface WatchOptions {
  signal: AbortSignal;
  /** Called after each pass. */
  onPass?: (report: PumpReport) => void;
}

/**
 * Reading long folders takes at most one part in this of the time; meanwhile work continues from
 * what is known.
 */
const SCAN_SHARE = 20;
const LONG_SCAN_MS = 2;
const MOST_SCAN_REST_MS = 500;
/**
 * With much under way, passes take at most one part in this of the time, and tasks that end
 * meanwhile share the next.
 */
const PASS_SHARE = 4;
const LONG_PASS_MS = 0.5;
const MOST_PASS_REST_MS = 50;
/** Peers other than the first look at most this many times less often. */
const OTHERS_FACTOR = 8;

export async function watch(ports: Ports, engine: Engine, { signal, onPass }: WatchOptions): Promise<void> {
  const { ring, wake, ...condition } = untilStopped(ports, engine, signal, onPass);
  const unhook = await ports.presence.onRing(ring);
  signal.addEventListener('abort', wake, { once: true });
  await ports.presence.join();
  try {
    await runUntil(engine, condition, signal);
  } finally {
    await unhook();
    await engine.stop();
  }
}

interface Watching extends Condition {
  ring(): void;
  wake(): void;
}

function untilStopped(
  ports: Ports,
  engine: Engine,
  signal: AbortSignal,
  onPass: WatchOptions['onPass'] = () => undefined,
): Watching {
  const { clock, config } = ports;
  let bell = new AbortController();
  /** The first ring since the last look. */
  let rungAt: number | undefined;
  let isEnded = false;
  let lastFull = -Infinity;
  let fullGapMs = rescanGap();
  let scanRestUntil = -Infinity;
  let nextPass = -Infinity;
  let current = { from: 0, isFull: false, wasRung: false, version: 0 };
  return {
    ring() {
      if (rungAt !== undefined) return;
      rungAt = clock.monotonicMs();
      wake();
    },
    wake,
    look() {
      const from = clock.monotonicMs();
      const isFull = from - lastFull >= fullGapMs;
      const look: Look = isFull ? 'all' : untilLook() <= 0 ? 'changed' : 'none';
      current = { from, isFull, wasRung: rungAt !== undefined, version: ports.tasks.version() };
      if (look !== 'none') rungAt = undefined;
      isEnded = false;
      if (isFull) lastFull = from;
      return look;
    },
    onEnd(moved) {
      if (!moved && engine.backlog() === 0) return;
      isEnded = true;
      wake();
    },
    async onPass(report) {
      const { from, isFull, wasRung, version } = current;
      const passMs = clock.monotonicMs() - from;
      nextPass = from + (passMs > LONG_PASS_MS ? Math.min(MOST_PASS_REST_MS, PASS_SHARE * passMs) : 0);
      if ((report.scanMs ?? 0) > LONG_SCAN_MS)
        scanRestUntil = clock.monotonicMs() + Math.min(MOST_SCAN_REST_MS, SCAN_SHARE * report.scanMs!);
      const isIdle = engine.flights.size === 0;
      // A change that rang no bell here may have rung none elsewhere.
      if (isFull && !wasRung && isIdle && ports.tasks.version() !== version) ports.presence.ringOthers();
      await engine.showRegistry();
      onPass(report);
      if (engine.flights.size === 0) await ports.flush();
      ports.audit.passed(engine.flights.size === 0 ? INTERVALS.commitGapQuietMs : INTERVALS.commitGapBusyMs);
    },
    async wait({ due = Infinity, untold = Infinity }) {
      fullGapMs = rescanGap();
      const next = Math.min(due - clock.now().getTime(), untold) + clock.monotonicMs();
      for (;;) {
        const now = clock.monotonicMs();
        if ((isEnded && now >= nextPass) || signal.aborted) return true;
        const untilPass = isEnded ? nextPass - now : Infinity;
        const waitMs = Math.min(next - now, lastFull + fullGapMs - now, untilLook(), untilPass);
        bell = new AbortController();
        await clock.sleep(Math.max(1, waitMs), bell.signal);
        if (clock.monotonicMs() - now >= waitMs) return true;
      }
    },
  };

  function wake(): void {
    bell.abort('rung'); // without a reason, each abort would make an error and its stack
  }

  /** Infinity: it did not ring. */
  function untilLook(): number {
    return rungAt === undefined
      ? Infinity
      : Math.max(rungAt + INTERVALS.ringSettleMs, scanRestUntil) - clock.monotonicMs();
  }

  /**
   * The first peer looks as often as one alone would, and rings for all. The others look in case it
   * is suspended.
   */
  function rescanGap(): number {
    const me = ports.presence.rank();
    return config.rescanMs * (me.rank === 0 ? 1 : Math.min(OTHERS_FACTOR, me.of) * patience(me));
  }
}
