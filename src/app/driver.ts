/** Works until nothing moves, or until one task has ended. */
import { alarm } from '../adapters/clock/alarm.js';
import { INTERVALS } from '../domain/intervals.js';
import { isEnded, type Placed } from '../domain/task/task.js';
import { claimedElsewhere } from '../engine/core/capacity.js';
import type { Ports } from '../engine/core/context.js';
import type { Engine, Look, PumpReport } from '../engine/pass/pump.js';
import { runUntil } from '../engine/pass/run-until.js';

interface Driver {
  pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport>;
  finish(id: string, signal?: AbortSignal): Promise<Placed>;
}

interface Goal {
  /** Only tasks of these trees; absent: of all. */
  roots?: ReadonlySet<string>;
  onPass?: (report: PumpReport) => void;
  /**
   * Called when nothing is under way; false: the goal is reached. `whole`: the report of the last
   * pass, if that compared every file.
   */
  whenIdle(whole?: PumpReport): Promise<boolean>;
}

/** Starts nothing more. */
const NO_ROOTS: ReadonlySet<string> = new Set();

export function driver(ports: Ports, engine: Engine): Driver {
  return {
    async pumpUntilQuiet(onPass = () => undefined, signal) {
      let last: PumpReport;
      const goal: Goal = {
        onPass(report) {
          if (!engine.isSettling) ports.audit.passed();
          onPass(report);
        },
        async whenIdle(whole) {
          last = whole ?? (await engine.pump(signal?.aborted ? NO_ROOTS : undefined));
          if (whole === undefined) onPass(last);
          return last.moved && !signal?.aborted;
        },
      };
      await reach(ports, engine, goal, signal);
      return last!;
    },
    async finish(id, signal) {
      const roots = await neededTrees(ports, id);
      let placed: Placed;
      const goal: Goal = {
        roots,
        async whenIdle(whole) {
          const driven = whole === undefined ? await ports.tasks.read(id) : undefined;
          if (driven !== undefined && isEnded(driven.state)) {
            placed = driven;
            await engine.wrapUp();
            return false;
          }
          const { moved } = whole ?? (await engine.pump(signal?.aborted ? NO_ROOTS : roots));
          placed = (await ports.tasks.read(id))!;
          if (isEnded(placed.state) || signal?.aborted) return false;
          const waitMs = moved ? 0 : waitForOthers(ports, placed, roots);
          if (waitMs === undefined) return false;
          if (waitMs > 0) await ports.clock.sleep(waitMs);
          return true;
        },
      };
      await reach(ports, engine, goal, signal);
      return placed!;
    },
  };
}

/**
 * Passes that use only what is known follow each other as soon as anything ends. Folders are read
 * at intervals.
 */
async function reach({ clock }: Ports, engine: Engine, goal: Goal, signal?: AbortSignal): Promise<void> {
  const bell = alarm(clock);
  let look: Look = 'all';
  let lookedAt = clock.monotonicMs();
  const condition = {
    roots: goal.roots,
    look: () => look,
    onEnd: bell.ring,
    onPass(report: PumpReport): void {
      goal.onPass?.(report);
      if (look !== 'none') lookedAt = clock.monotonicMs();
      look = clock.monotonicMs() - lookedAt < INTERVALS.folderCheckMs ? 'none' : 'changed';
    },
    async wait(report: PumpReport): Promise<boolean> {
      if (engine.flights.size === 0 && !bell.isRung()) {
        look = 'all';
        return goal.whenIdle(engine.isSettling ? report : undefined);
      }
      const { publishInMs } = report;
      if (await bell.wait(publishInMs ?? INTERVALS.folderCheckMs)) return true;
      if (publishInMs === undefined) look = 'changed';
      // A simulated clock must not keep others from continuing.
      await new Promise((resolve) => setImmediate(resolve));
      return true;
    },
  };
  try {
    if (!(await runUntil(engine, condition, signal))) await goal.whenIdle();
  } finally {
    bell.off();
  }
}

/** The trees that a task needs: its own, and those of its dependencies. */
async function neededTrees({ tasks }: Pick<Ports, 'tasks'>, id: string): Promise<Set<string>> {
  const roots = new Set<string>();
  const seen = new Set([id]);
  // The set grows during the loop.
  for (const needed of seen) {
    const placed = tasks.getOpen(needed) ?? (await tasks.read(needed));
    if (placed === undefined) continue;
    roots.add(placed.task.root);
    for (const other of placed.task.dependencies) seen.add(other);
  }
  return roots;
}

/**
 * How long to wait for another process, or for a time that is still to come; undefined: nothing
 * will move by itself.
 */
function waitForOthers(ports: Ports, { task }: Placed, roots: ReadonlySet<string>): number | undefined {
  const isElsewhere = [...ports.tasks.open()].some((open) => open.held && open.task.root === task.root);
  if (isElsewhere || lacksCapacity(ports, roots)) return INTERVALS.capacityCheckMs;
  const now = ports.clock.now().getTime();
  const times = [...ports.tasks.open()].flatMap(({ task: { root, waits } }) => {
    if (!roots.has(root) || waits?.until === undefined || waits.tasks !== undefined) return [];
    return waits.file === undefined ? Date.parse(waits.until) - now : INTERVALS.folderCheckMs;
  });
  return times.length === 0 ? undefined : Math.min(INTERVALS.folderCheckMs, Math.max(1, ...times));
}

/** Whether one of these trees waits only because other processes use all capacity of an agent. */
function lacksCapacity({ tasks, presence, agents }: Ports, roots: ReadonlySet<string>): boolean {
  const elsewhere = claimedElsewhere(tasks.open(), presence.peer.id);
  return [...tasks.open()].some(({ task: { root, to = '' }, state }) => {
    const capacity = agents.all().get(to)?.maxConcurrentTasks ?? Infinity;
    return roots.has(root) && state === 'pending' && (elsewhere.get(to) ?? 0) >= capacity;
  });
}
