/**
 * The goal of `watch`: work until stopped. Between passes it sleeps until a ring, an ended task, or
 * a due time.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { patience } from '../../domain/peer.js';
import type { Ports } from '../core/context.js';
import { outcome, type Goal } from './goals.js';
import type { Engine, PumpReport } from './pump.js';

export interface WatchOptions {
  signal: AbortSignal;
  onPass?: (report: PumpReport) => void;
}

/** Reading long folders takes at most 1/20 of the time; work continues from memory meanwhile. */
const SCAN_SHARE = 20;
const LONG_SCAN_MS = 2;
const MAX_SCAN_REST_MS = 500;
/**
 * Comparing every file takes at most 1/4000 of the time. In between, changed folders are listed at
 * the normal rate, so only an edit in place whose file event was lost waits longer.
 */
const FULL_SCAN_SHARE = 4000;
/** A scan may have been slow only because the machine was busy. */
const MAX_FULL_SCAN_GAP_MS = 5 * 60_000;
/** Peers other than the first scan at most this many times less often. */
const OTHERS_FACTOR = 8;

interface WatchGoal extends Goal<void> {
  /** Joins the workspace and listens for rings; returns a function that stops listening. */
  begin(): Promise<() => Promise<void>>;
}

export function watchGoal(
  ports: Ports,
  engine: Engine,
  { signal, onPass = () => undefined }: WatchOptions,
  wake: () => void,
): WatchGoal {
  const { clock } = ports;
  const { done, resolve, fail } = outcome<void>();
  /** Time of the first ring since the last look. */
  let rungAt: number | undefined;
  let lastFull = -Infinity;
  let lastScan = -Infinity;
  let scanGapMs = rescanGap(ports);
  let fullScanMs = 0;
  let scanRestUntil = -Infinity;
  let shownAt = -Infinity;
  let registryDue = Infinity;
  /** A person may be saving the ballot: it is read again at this time. */
  let ballotDue = Infinity;
  let current = { isFull: false, wasRung: false, version: 0 };

  return {
    roots: undefined,
    done,
    fail,
    isAborted: () => signal.aborted,
    async begin() {
      const ring = (): void => {
        if (rungAt !== undefined) return;
        rungAt = clock.monotonicMs();
        wake();
      };
      // A peer that hosts no agents still shows the work of others.
      const unhook = await ports.presence.onRing(ring, { workOnly: ports.hosts?.size !== 0 });
      await ports.presence.join();
      return unhook;
    },
    look(now) {
      const isFull = now >= fullDue();
      const isDue = isFull || Math.min(lookDue(), ballotDue) <= now;
      current = { isFull, wasRung: rungAt !== undefined, version: ports.tasks.version() };
      if (isDue) rungAt = undefined;
      if (isDue) lastScan = now;
      if (isFull) lastFull = now;
      return isFull ? 'all' : isDue ? 'changed' : 'none';
    },
    async onPass(report) {
      const { isFull, wasRung, version } = current;
      ballotDue = clock.monotonicMs() + (report.lookInMs ?? Infinity);
      if ((report.scanMs ?? 0) > LONG_SCAN_MS)
        scanRestUntil = clock.monotonicMs() + Math.min(MAX_SCAN_REST_MS, SCAN_SHARE * report.scanMs!);
      if (isFull) fullScanMs = report.scanMs ?? 0;
      const isIdle = engine.flights.size === 0;
      // A change that did not wake this process may not have woken other processes.
      if (isFull && !wasRung && isIdle && ports.tasks.version() !== version) ports.presence.ringOthers();
      scanGapMs = rescanGap(ports);
      await showRegistry();
      onPass(report);
      if (isIdle) await ports.flush();
      ports.audit.passed();
    },
    nextPass: () => Math.min(fullDue(), lookDue(), registryDue, ballotDue),
    async check() {
      if (!signal.aborted) return 'going';
      resolve();
      return 'reached';
    },
  };

  /** Changes that come close together share a write. */
  async function showRegistry(): Promise<void> {
    const now = clock.monotonicMs();
    registryDue = shownAt + INTERVALS.stateGatherMs;
    if (now < registryDue) return;
    registryDue = Infinity;
    shownAt = now;
    await engine.showRegistry();
  }

  function fullDue(): number {
    return lastFull + Math.max(scanGapMs, Math.min(MAX_FULL_SCAN_GAP_MS, FULL_SCAN_SHARE * fullScanMs));
  }

  /** After a ring, or in case one was lost. */
  function lookDue(): number {
    const { settleMs, busyGapMs } = ports.presence.pace();
    const soonest = engine.flights.size === 0 ? -Infinity : lastScan + busyGapMs;
    const rungDue = rungAt === undefined ? Infinity : Math.max(rungAt + settleMs, soonest);
    return Math.max(Math.min(rungDue, lastScan + scanGapMs), scanRestUntil);
  }
}

/**
 * The first peer scans at the normal rate and notifies the others of what it finds; they scan less
 * often, in case it is suspended.
 */
function rescanGap({ presence, config }: Ports): number {
  const me = presence.rank();
  return config.rescanMs * (me.rank === 0 ? 1 : Math.min(OTHERS_FACTOR, me.of) * patience(me));
}
