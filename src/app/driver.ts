/** Drives passes until nothing moves, or until one task has ended. */
import { INTERVALS } from '../domain/intervals.js';
import { alarm } from '../adapters/clock/alarm.js';
import { isEnded, type Placed } from '../domain/task/task.js';
import { claimedElsewhere } from '../engine/core/capacity.js';
import type { Ports } from '../engine/core/context.js';
import type { Engine, PumpReport } from '../engine/pass/pump.js';

export interface Driver {
  pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport>;
  finish(id: string, signal?: AbortSignal): Promise<Placed>;
}

interface Drive {
  /** Only tasks of these trees; absent: of all. */
  roots?: ReadonlySet<string>;
  onPass?: (report: PumpReport) => void;
  signal?: AbortSignal | undefined;
}

/** Starts nothing more. */
const NO_ROOTS: ReadonlySet<string> = new Set();

/** `isLive`: false for a recording, which only makes whole passes. */
export function driver(ports: Ports, motor: Engine, isLive: boolean): Driver {
  const { clock } = ports;
  return { pumpUntilQuiet, finish };

  async function pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport> {
    for (;;) {
      if (isLive) await drive({ onPass: passed, signal });
      const report = await motor.pump(signal?.aborted ? NO_ROOTS : undefined);
      onPass?.(report);
      if (!report.moved || signal?.aborted) return report;
    }

    function passed(report: PumpReport): void {
      ports.audit.passed(INTERVALS.commitGapBusyMs);
      onPass?.(report);
    }
  }

  /** The trees that a task needs: its own, and those of what it depends on. */
  async function needed(id: string, roots = new Set<string>(), seen = new Set<string>()): Promise<Set<string>> {
    const placed = seen.has(id) ? undefined : (ports.tasks.getOpen(id) ?? (await ports.tasks.read(id)));
    seen.add(id);
    if (placed === undefined) return roots;
    roots.add(placed.task.root);
    for (const other of placed.task.dependencies) await needed(other, roots, seen);
    return roots;
  }

  /** Passes that only use what is known follow each other as soon as anything ends; a pump after them looks at everything. */
  async function drive({ roots, onPass, signal }: Drive): Promise<void> {
    let look: 'all' | 'changed' | 'none' = 'all';
    let looked = clock.monotonicMs();
    const bell = alarm(clock);
    try {
      for (;;) {
        if (signal?.aborted) return;
        const report = await motor.pass(look, bell.ring, roots);
        onPass?.(report);
        const { again, untold } = report;
        if (look !== 'none') looked = clock.monotonicMs();
        look = clock.monotonicMs() - looked < INTERVALS.folderCheckMs ? 'none' : 'changed';
        if (again) continue;
        if (motor.flights.size === 0 && !bell.isRung()) return;
        if (await bell.wait(untold ?? INTERVALS.folderCheckMs)) continue;
        if (untold === undefined) look = 'changed';
        await new Promise((resolve) => setImmediate(resolve)); // a clock that does not really wait must not keep others from going on
      }
    } finally {
      bell.off();
    }
  }

  async function finish(id: string, signal?: AbortSignal): Promise<Placed> {
    const roots = await needed(id);
    for (;;) {
      if (isLive) await drive({ roots, signal });
      const driven = isLive ? await ports.tasks.read(id) : undefined;
      if (driven !== undefined && isEnded(driven.state)) {
        await motor.wrapUp();
        return driven;
      }
      const report = await motor.pump(signal?.aborted ? NO_ROOTS : roots);
      const placed = (await ports.tasks.read(id))!;
      if (isEnded(placed.state) || signal?.aborted) return placed;
      if (report.moved) continue;
      const elsewhere =
        [...ports.tasks.open()].some((one) => one.held && one.task.root === placed.task.root) || lacksRoom(roots);
      const waitMs = elsewhere ? INTERVALS.capacityCheckMs : untilDue(roots); // another process works on it, or its time is still to come
      if (waitMs === undefined) return placed;
      await clock.sleep(waitMs);
    }
  }

  /** Whether one of these could go on if other processes had not filled up its agent. */
  function lacksRoom(roots: ReadonlySet<string>): boolean {
    const elsewhere = claimedElsewhere(ports.tasks.open(), ports.presence.peer.id);
    return [...ports.tasks.open()].some(({ task: { root: one, to = '' }, state }) => {
      const most = ports.agents.all().get(to)?.maxConcurrentTasks ?? Infinity;
      return roots.has(one) && state === 'pending' && (elsewhere.get(to) ?? 0) >= most;
    });
  }

  /** How long to wait where something waits for a time and for nobody; undefined where nothing does. Others are looked at meanwhile. */
  function untilDue(roots: ReadonlySet<string>): number | undefined {
    const now = clock.now().getTime();
    const times = [...ports.tasks.open()].flatMap(({ task: { root: one, waits } }) => {
      if (!roots.has(one) || waits?.until === undefined || waits.tasks !== undefined) return [];
      return waits.file === undefined ? Date.parse(waits.until) - now : INTERVALS.folderCheckMs;
    });
    return times.length === 0 ? undefined : Math.min(INTERVALS.folderCheckMs, Math.max(1, ...times));
  }
}
