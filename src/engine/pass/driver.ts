/**
 * The driver of a process: one loop of passes for everything that `watch`, `run`, `finish` and
 * `pump --all` want. Each adds a goal and waits for it; the loop runs while there are goals. A goal
 * whose task ends is notified at once, so a thousand runs cost the passes of one.
 */
import { INTERVALS } from '../../domain/intervals.js';
import type { Placed } from '../../domain/task/task.js';
import { alarm } from './alarm.js';
import type { Ports } from '../core/context.js';
import { finishGoal, neededTrees, quietGoal, type Goal, type LastPass } from './goals.js';
import type { Engine, Look, PumpReport } from './pump.js';
import { runUntil, type Condition } from './run-until.js';
import { watchGoal, type WatchOptions } from './watch.js';

interface Driver {
  /** Works until the signal aborts; then releases its tasks and resolves. */
  watch(options: WatchOptions): Promise<void>;
  /** Works until nothing moves, or the signal aborts. */
  pumpUntilQuiet(onPass?: (report: PumpReport) => void, signal?: AbortSignal): Promise<PumpReport>;
  /**
   * Works on this task and what it needs until it has ended, waits for something outside this
   * process, or the signal aborts. `isNew`: this process has just made the task, so the first pass
   * need not scan.
   */
  finish(id: string, options?: { signal?: AbortSignal; isNew?: boolean }): Promise<Placed>;
}

/**
 * Under load, passes take at most 1/4 of the time; tasks that end meanwhile share the next pass.
 */
const PASS_SHARE = 4;
const LONG_PASS_MS = 0.5;
const MAX_PASS_REST_MS = 50;
/** With fewer tasks in flight, passes are short and the next step should not wait for one. */
const FEW_FLIGHTS = 32;

export function driver(ports: Ports, engine: Engine): Driver {
  const { clock } = ports;
  const goals = new Set<Goal>();
  /** Goals that say when and where to look, or follow every pass. */
  const attentive = new Set<Goal>();
  /** Goals that no pass has considered yet. */
  const fresh = new Set<Goal>();
  const touched = new Set<Goal>();
  const byRoot = new Map<string, Set<Goal>>();
  const roots = new Set<string>();
  /** Trees in which a task has left this process since the current pass began. */
  const changed = new Set<string>();
  let bell = alarm(clock);
  let running: Promise<void> | undefined;
  let wantsPass = false;
  /**
   * The scope of the next pass. The first pass looks at everything, because nothing is known yet.
   */
  let wanted: Look = 'all';
  let fullDue = Infinity;
  /** When the next pass is due for tasks that `follow` started without a pass. */
  let sharedDue = Infinity;
  let lookedAt = -Infinity;
  let restUntil = -Infinity;
  let last: LastPass | undefined;
  let current: { look: Look; from: number; fresh: Goal[] } = { look: 'none', from: 0, fresh: [] };

  return {
    watch: async (options) => {
      const goal = watchGoal(ports, engine, options, wake);
      const off = await goal.begin();
      try {
        await pursue(goal, 'none', options.signal);
      } finally {
        await off();
        await engine.stop(roots);
      }
    },
    pumpUntilQuiet: (onPass, signal) => pursue(quietGoal(ports, engine, onPass, signal), 'all', signal),
    async finish(id, { signal, isNew = false } = {}) {
      const needed = await neededTrees(ports, id);
      return pursue(finishGoal(ports, engine, { id, roots: needed, signal }), isNew ? 'rules' : 'all', signal);
    },
  };

  async function pursue<T>(goal: Goal<T>, look: Look, signal?: AbortSignal): Promise<T> {
    const onAbort = (): void => {
      stopStarting(goal);
      touched.add(goal);
      wake();
    };
    enter(goal);
    wanted = stronger(wanted, look);
    wantsPass = true;
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    wake();
    running ??= run();
    try {
      return await goal.done;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  function wake(): void {
    bell.ring();
  }

  async function run(): Promise<void> {
    const condition: Condition = {
      get roots() {
        return startableRoots();
      },
      look: nextLook,
      onEnd,
      onPass,
      wait,
    };
    try {
      // A caller that makes one run after the other adds its next goal in this turn of the event
      // loop, so the loop and its timer are kept.
      do await runUntil(engine, condition);
      while (await hasGoalsAfterThisTurn());
    } catch (thrown) {
      for (const goal of [...goals]) {
        leave(goal);
        goal.fail(thrown);
      }
    }
    bell.off();
    bell = alarm(clock);
    running = goals.size > 0 ? run() : undefined;
  }

  /** Undefined: tasks of all trees may be started. */
  function startableRoots(): ReadonlySet<string> | undefined {
    for (const goal of attentive) if (goal.roots === undefined && !goal.isAborted()) return undefined;
    return roots;
  }

  async function hasGoalsAfterThisTurn(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    return goals.size > 0;
  }

  function nextLook(): Look {
    const from = clock.monotonicMs();
    let look = wanted;
    for (const goal of attentive) look = stronger(look, goal.look?.(from) ?? 'none');
    if (from >= fullDue) look = 'all';
    else if (from >= lookDue()) look = stronger(look, 'changed');
    wanted = 'none';
    wantsPass = false;
    sharedDue = Infinity;
    if (look === 'all') fullDue = Infinity;
    changed.clear();
    current = { look, from, fresh: [...fresh] };
    fresh.clear();
    return look;
  }

  /** Only `watch` hears file events. For other goals, changed folders are listed at intervals. */
  function lookDue(): number {
    let listening = 0;
    for (const goal of attentive) if (goal.look !== undefined) listening++;
    return goals.size > listening ? lookedAt + INTERVALS.folderCheckMs : Infinity;
  }

  function onEnd(moved: boolean, root: string, follow: () => boolean): void {
    const waiting = byRoot.get(root);
    changed.add(root);
    if (moved && startableRoots()?.has(root) !== false && follow()) {
      if (sharedDue !== Infinity) return;
      sharedDue = clock.monotonicMs() + INTERVALS.stateGatherMs;
      return bell.ring();
    }
    for (const goal of waiting ?? []) touched.add(goal);
    for (const goal of attentive) touched.add(goal);
    if (!moved && waiting === undefined && engine.backlog() === 0) return;
    wantsPass = true;
    bell.ring();
  }

  async function onPass(report: PumpReport): Promise<void> {
    const { look, from } = current;
    const now = clock.monotonicMs();
    const isFull = look === 'all' || engine.isSettling;
    const isScan = look === 'changed' || look === 'all';
    if (isScan) lookedAt = now;
    const isBusy = now - from > LONG_PASS_MS && engine.flights.size >= FEW_FLIGHTS;
    restUntil = isBusy ? from + Math.min(MAX_PASS_REST_MS, PASS_SHARE * (now - from)) : -Infinity;
    last = { report, isFull, fullLooks: (last?.fullLooks ?? 0) + (isFull ? 1 : 0), changed };
    for (const goal of isScan || isFull ? goals : [...current.fresh, ...attentive]) touched.add(goal);
    for (const goal of attentive) await goal.onPass?.(report);
  }

  /** Sleeps until there is a reason for a pass. False if no goal is left. */
  async function wait({ due = Infinity, publishInMs = Infinity }: PumpReport): Promise<boolean> {
    const publishAt = clock.monotonicMs() + publishInMs;
    const dueAt = due - clock.now().getTime() + clock.monotonicMs();
    for (;;) {
      await checkGoals();
      if (goals.size === 0) return false;
      const now = clock.monotonicMs();
      let goalDue = Infinity;
      for (const goal of attentive) goalDue = Math.min(goalDue, goal.nextPass?.(now) ?? Infinity);
      const passDue = wantsPass || wanted !== 'none' ? restUntil : Infinity;
      const next = Math.min(passDue, sharedDue, lookDue(), fullDue, publishAt, dueAt, goalDue);
      if (next <= now) return true;
      const isRung = await bell.wait(Math.max(1, next - now));
      // Tasks that end in the same turn of the event loop share a pass. Waiting for that turn also
      // lets other work continue under a simulated clock.
      if (!isRung || engine.flights.size > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function checkGoals(): Promise<void> {
    if (last === undefined) return;
    const batch = [...touched];
    touched.clear();
    for (const goal of batch) {
      if (!goals.has(goal)) continue;
      const result = await goal.check(last);
      if (result === 'reached') leave(goal);
      else if (result === 'next_pass') fresh.add(goal);
      else if (result !== 'going') {
        // While other work runs, a goal that may never move must not cause constant scans.
        const soonest = engine.flights.size === 0 ? 0 : lookedAt + INTERVALS.folderCheckMs;
        fullDue = Math.min(fullDue, Math.max(soonest, clock.monotonicMs() + result.lookInMs));
      }
    }
    if (fresh.size > 0) wantsPass = true;
  }

  function enter(goal: Goal): void {
    goals.add(goal);
    fresh.add(goal);
    if (goal.roots === undefined) attentive.add(goal);
    for (const root of goal.roots ?? []) {
      roots.add(root);
      byRoot.set(root, (byRoot.get(root) ?? new Set()).add(goal));
    }
  }

  function stopStarting(goal: Goal): void {
    for (const root of goal.roots ?? [])
      if ([...(byRoot.get(root) ?? [])].every((other) => other.isAborted())) roots.delete(root);
  }

  function leave(goal: Goal): void {
    for (const group of [goals, attentive, fresh, touched]) group.delete(goal);
    for (const root of goal.roots ?? []) {
      const waiting = byRoot.get(root);
      waiting?.delete(goal);
      if (waiting !== undefined && waiting.size > 0) continue;
      byRoot.delete(root);
      roots.delete(root);
    }
  }
}

const LOOKS: readonly Look[] = ['none', 'rules', 'changed', 'all'];

function stronger(a: Look, b: Look): Look {
  return LOOKS.indexOf(a) >= LOOKS.indexOf(b) ? a : b;
}
