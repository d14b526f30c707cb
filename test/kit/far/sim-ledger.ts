/**
 * A ledger on a bad network, for processes that a seed delays, pauses and cuts off. Calls arrive
 * late and out of order between processes, an answer may be lost after the commit, a request may
 * arrive again much later, and time passes only with calls. The promises of `memoryLedger` still
 * hold: a call whose answer is lost is repeated with the same id.
 */
import { memoryLedger, type LedgerState } from '../../../src/adapters/ledger/memory.js';
import { problem, ProblemError } from '../../../src/domain/problem.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Ledger } from '../../../src/ports/ledger.js';

export interface Weather {
  /** Rounds of the event loop that a call may wait, before and after it takes effect. */
  delay: number;
  /** Chance that the answer to a commit is lost, so it is sent again. */
  lost: number;
  /** Chance that a commit arrives once more, later. */
  repeated: number;
  /** Chance that a process is paused at a call. */
  paused: number;
  /** Chance that a process is cut off for good: half of the time its last call took effect. */
  cut: number;
}

export const CALM: Weather = { delay: 0, lost: 0, repeated: 0, paused: 0, cut: 0 };
export const STORM: Weather = { delay: 3, lost: 0.1, repeated: 0.1, paused: 0.004, cut: 0.004 };

export interface SimNet {
  /** Milliseconds that have passed. */
  readonly elapsedMs: number;
  /** A process's own connection, clock and timer. */
  connect(options?: PeerOptions): SimPeer;
  /** How often a process was paused or cut off. */
  readonly faults: { pauses: number; cuts: number };
}

export interface PeerOptions {
  weather?: Weather | undefined;
  /** The commit at which it is cut off for good. */
  cutAt?: { commit: number; isCarriedOut: boolean } | undefined;
  /** How wrong its clock is, and how fast it runs. */
  skewMs?: number | undefined;
  rate?: number | undefined;
}

export interface SimPeer {
  ledger: Ledger;
  /** Wrong by a skew, and too fast or too slow. */
  clock(shared: Clock): Clock;
  every(ms: number, act: () => void): () => void;
  /** Calls of this process never return. */
  die(): void;
  /** How many commits it has sent. */
  commits(): number;
}

/** The lease that the processes use; each call takes up to `CALL_MS`. */
export const SIM_LEASE_MS = 2000;
const CALL_MS = 20;
/** A pause lasts for at most this many calls of other processes, a few leases. */
const PAUSE_CALLS = 600;

export function simNet(state: LedgerState, random: () => number): SimNet {
  const timers = new Set<{ due: number; ms: number; act: () => void; isPaused: () => boolean }>();
  const faults = { pauses: 0, cuts: 0 };
  let elapsedMs = 0;
  let calls = 0;

  return {
    get elapsedMs() {
      return elapsedMs;
    },
    faults,
    connect,
  };

  /** Time passes with every call of any process, and fires the timers that are due. */
  function pass(): void {
    calls++;
    elapsedMs += random() * CALL_MS;
    for (const timer of timers) {
      if (timer.due > elapsedMs || timer.isPaused()) continue;
      timer.due = elapsedMs + timer.ms;
      timer.act();
    }
  }

  function connect({ weather = CALM, cutAt, skewMs = 0, rate = 1 }: PeerOptions = {}): SimPeer {
    const inner = memoryLedger(state);
    let isDead = false;
    let commits = 0;
    let resumeAt = 0;
    const isPaused = (): boolean => isDead || calls < resumeAt;

    /** Every call goes through here: `act` is the moment at which it takes effect. */
    async function call<T>(act: () => Promise<T>, isCommit: boolean): Promise<T> {
      await alive();
      pass();
      await wander();
      const isCut = isCommit && ++commits === cutAt?.commit;
      if (isCut || (isCommit && random() < weather.cut)) {
        if (isCut ? cutAt.isCarriedOut : random() < 0.5) await act();
        return away();
      }
      let answer = await act();
      while (isCommit && random() < weather.lost) answer = await act();
      if (isCommit && random() < weather.repeated) void again(act);
      await wander();
      if (random() < weather.paused) {
        faults.pauses++;
        resumeAt = calls + Math.floor(random() * PAUSE_CALLS);
      }
      await alive();
      return answer;
    }

    async function alive(): Promise<void> {
      for (let rounds = 0; isPaused(); rounds++) {
        if (isDead) await new Promise(() => undefined);
        await new Promise(setImmediate);
        // If no other process moves, the pause ends.
        if (rounds % 20 === 19) pass();
      }
    }

    async function again(act: () => Promise<unknown>): Promise<void> {
      for (let rounds = Math.floor(random() * 200); rounds > 0; rounds--) await new Promise(setImmediate);
      await act();
    }

    async function wander(): Promise<void> {
      const isLong = random() < 0.4;
      for (let left = Math.floor(random() * (weather.delay + 1)); left > 0; left--)
        await (isLong ? new Promise((resolve) => setImmediate(resolve)) : Promise.resolve());
    }

    function away(): never {
      faults.cuts++;
      throw new ProblemError(problem('store_away', 'the database does not answer'));
    }

    const read = <A extends unknown[], T>(verb: (...args: A) => Promise<T>): ((...args: A) => Promise<T>) => {
      return (...args) => call(() => verb(...args), false);
    };
    const ledger: Ledger = {
      commit: (...args) => call(() => inner.commit(...args), true),
      get: read(inner.get),
      news: read(inner.news),
      list: read(inner.list),
      count: read(inner.count),
      lines: read(inner.lines),
      grown: read(inner.grown),
      newLines: read(inner.newLines),
      onRing: inner.onRing,
      ring: inner.ring,
      hasten: inner.hasten,
      close: inner.close,
    };
    return {
      ledger,
      clock: (shared) => ({
        now: () => new Date(shared.now().getTime() + skewMs),
        monotonicMs: () => elapsedMs * rate,
        sleep: (ms, signal) => shared.sleep(ms, signal),
      }),
      every(ms, act) {
        const timer = { due: elapsedMs + ms / rate, ms: ms / rate, act, isPaused };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      die: () => void (isDead = true),
      commits: () => commits,
    };
  }
}
