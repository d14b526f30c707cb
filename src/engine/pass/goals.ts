/**
 * The goals of the driver's callers: that one task has ended or cannot continue here, or that
 * nothing moves at all. A goal only looks at the outcome of passes; it never makes one.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import { claimedElsewhere } from '../core/capacity.js';
import type { Ports } from '../core/context.js';
import type { Engine, Look, PumpReport } from './pump.js';

export interface Goal<T = unknown> {
  /** The trees it works on; undefined: all. */
  readonly roots: ReadonlySet<string> | undefined;
  readonly done: Promise<T>;
  isAborted(): boolean;
  fail(thrown: unknown): void;
  /** Checks whether the goal is reached; called between passes. */
  check(last: LastPass): Promise<Checked>;
  onPass?(report: PumpReport): Promise<void> | void;
  /** The scope of the pass that starts now; if absent, the driver decides. */
  look?(nowMs: number): Look;
  /** When it wants the next pass, in monotonic milliseconds. */
  nextPass?(nowMs: number): number;
}

/**
 * going: check again when one of its tasks has left this process · next_pass: check again after it
 * · `lookInMs`: check again after a look at everything.
 */
type Checked = 'reached' | 'going' | 'next_pass' | { lookInMs: number };

export interface LastPass {
  report: PumpReport;
  isFull: boolean;
  fullLooks: number;
  /** Trees in which a task has left this process since the pass began. */
  changed: ReadonlySet<string>;
}

interface FinishOptions {
  id: string;
  roots: ReadonlySet<string>;
  signal?: AbortSignal | undefined;
}

export function finishGoal(ports: Ports, engine: Engine, { id, roots, signal }: FinishOptions): Goal<Placed> {
  const { done, resolve, fail } = outcome<Placed>();
  /** The number of full looks when the goal last made no progress. */
  let stalledAt: number | undefined;
  return { roots, done, fail, check, isAborted: () => signal?.aborted === true };

  async function check(last: LastPass): Promise<Checked> {
    if (has(roots, engine.isFlying)) return going();
    if (!ports.tasks.isOpen(id)) {
      const placed = await ports.tasks.read(id, { maxAgeMs: INTERVALS.requestAgeMs });
      if (placed === undefined || isEnded(placed.state)) return reached(placed, engine.wrapUp);
    }
    if (signal?.aborted) {
      if (engine.isSettling) await engine.pump(new Set());
      return reached(await ports.tasks.read(id), engine.tidy);
    }
    // A task that only waits for capacity here starts when other tasks leave this process.
    if (engine.flights.size > 0 && has(roots, engine.isPassedOver)) return going();
    if (last.report.again || has(roots, (root) => last.changed.has(root))) return 'next_pass';
    const isStill = !engine.isSettling || !last.report.moved;
    if (isStill && last.isFull) stalledAt ??= last.fullLooks - 1;
    if (!isStill || stalledAt === undefined || stalledAt >= last.fullLooks) {
      stalledAt = last.fullLooks;
      return { lookInMs: 0 };
    }
    const placed = await ports.tasks.read(id);
    const lookInMs = placed && !isEnded(placed.state) ? waitForOthers(ports, engine, placed, roots) : undefined;
    if (lookInMs === undefined) return reached(placed, engine.tidy);
    stalledAt = last.fullLooks;
    return { lookInMs };
  }

  function going(): Checked {
    stalledAt = undefined;
    return 'going';
  }

  /** Writes what has not been written yet, unless every pass already writes everything. */
  async function reached(placed: Placed | undefined, settle: () => Promise<void>): Promise<Checked> {
    if (!engine.isSettling) await settle();
    resolve(placed!);
    return 'reached';
  }
}

export function quietGoal(
  ports: Ports,
  engine: Engine,
  onPass: (report: PumpReport) => void = () => undefined,
  signal?: AbortSignal,
): Goal<PumpReport> {
  const { done, resolve, fail } = outcome<PumpReport>();
  const patientUntil = ports.clock.monotonicMs() + INTERVALS.ballotPatienceMs;
  return {
    roots: undefined,
    done,
    fail,
    isAborted: () => signal?.aborted === true,
    onPass(report) {
      if (!engine.isSettling) ports.audit.passed();
      onPass(report);
    },
    async check({ report, isFull, changed }) {
      if (engine.flights.size > 0) return 'going';
      const isQuiet = isFull && !report.moved && changed.size === 0;
      if (!isQuiet && !signal?.aborted) return { lookInMs: 0 };
      // A person may be saving the ballot. Waits for them, but not for ever.
      const ballotMs = ports.clock.monotonicMs() < patientUntil ? ports.ballot.dueMs('read') : undefined;
      if (ballotMs !== undefined && !signal?.aborted) return { lookInMs: ballotMs };
      if (!engine.isSettling) await engine.tidy();
      else if (signal?.aborted) await engine.pump(new Set());
      resolve({ ...report, open: ports.tasks.openCount() });
      return 'reached';
    },
  };
}

interface Outcome<T> {
  done: Promise<T>;
  resolve(value: T): void;
  fail(thrown: unknown): void;
}

export function outcome<T>(): Outcome<T> {
  let resolve!: (value: T) => void;
  let fail!: (thrown: unknown) => void;
  const done = new Promise<T>((yes, no) => {
    resolve = yes;
    fail = no;
  });
  return { done, resolve, fail };
}

function has(roots: ReadonlySet<string>, test: (root: string) => boolean): boolean {
  for (const root of roots) if (test(root)) return true;
  return false;
}

/** The trees that a task needs: its own, and those of its dependencies. */
export async function neededTrees({ tasks }: Pick<Ports, 'tasks'>, id: string): Promise<Set<string>> {
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
 * How long to wait for other tasks of this process, for another process, or for a time that is
 * still to come; undefined: nothing will move by itself.
 */
function waitForOthers(ports: Ports, engine: Engine, { task }: Placed, roots: ReadonlySet<string>): number | undefined {
  const open = [...ports.tasks.open()];
  const isElsewhere = open.some(({ held, task: { root } }) => held && root === task.root);
  if (isElsewhere || has(roots, engine.isPassedOver) || lacksCapacity(ports, roots)) return INTERVALS.capacityCheckMs;
  const now = ports.clock.now().getTime();
  const times = open.flatMap(({ task: { root, waits } }) => {
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
