/**
 * Runs passes until stopped. Between passes it sleeps until a ring, an ended task, or a due time.
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

/** Reading long folders takes at most 1/20 of the time; work continues from memory meanwhile. */
const SCAN_SHARE = 20;
const LONG_SCAN_MS = 2;
const MAX_SCAN_REST_MS = 500;
/**
 * Under load, passes take at most 1/4 of the time; tasks that end meanwhile share the next pass.
 */
const PASS_SHARE = 4;
const LONG_PASS_MS = 0.5;
const MAX_PASS_REST_MS = 50;
/** Peers other than the first scan at most this many times less often. */
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
  /** Time of the first ring since the last look. */
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
      nextPass = from + (passMs > LONG_PASS_MS ? Math.min(MAX_PASS_REST_MS, PASS_SHARE * passMs) : 0);
      if ((report.scanMs ?? 0) > LONG_SCAN_MS)
        scanRestUntil = clock.monotonicMs() + Math.min(MAX_SCAN_REST_MS, SCAN_SHARE * report.scanMs!);
      const isIdle = engine.flights.size === 0;
      // A change that did not wake this process may not have woken others.
      if (isFull && !wasRung && isIdle && ports.tasks.version() !== version) ports.presence.ringOthers();
      await engine.showRegistry();
      onPass(report);
      if (engine.flights.size === 0) await ports.flush();
      ports.audit.passed();
    },
    async wait({ due = Infinity, publishInMs = Infinity, lookInMs = Infinity }) {
      fullGapMs = rescanGap();
      const lookAt = clock.monotonicMs() + lookInMs;
      const next = Math.min(due - clock.now().getTime(), publishInMs) + clock.monotonicMs();
      for (;;) {
        const now = clock.monotonicMs();
        if ((isEnded && now >= nextPass) || signal.aborted) return true;
        const untilPass = isEnded ? nextPass - now : Infinity;
        const waitMs = Math.min(next - now, lastFull + fullGapMs - now, untilLook(), untilPass, lookAt - now);
        bell = new AbortController();
        await clock.sleep(Math.max(1, waitMs), bell.signal);
        if (clock.monotonicMs() >= lookAt) rungAt = Math.min(rungAt ?? Infinity, lookAt - INTERVALS.ringSettleMs);
        if (clock.monotonicMs() - now >= waitMs) return true;
      }
    },
  };

  function wake(): void {
    bell.abort('rung'); // an abort without a reason creates an error with a stack
  }

  /** Infinity if it did not ring. */
  function untilLook(): number {
    return rungAt === undefined
      ? Infinity
      : Math.max(rungAt + INTERVALS.ringSettleMs, scanRestUntil) - clock.monotonicMs();
  }

  /**
   * The first peer scans at the normal rate and rings for all; others scan in case it is suspended.
   */
  function rescanGap(): number {
    const me = ports.presence.rank();
    return config.rescanMs * (me.rank === 0 ? 1 : Math.min(OTHERS_FACTOR, me.of) * patience(me));
  }
}
