/**
 * The engine: passes over the open tasks. A pass is level-triggered: it reads the current state,
 * not events, so it can be repeated, interrupted, or run by several processes at once. A lost event
 * costs time, never correctness.
 */
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import { assigneeName } from '../core/assignee.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Event } from '../../domain/event.js';
import type { Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { Scan } from '../../ports/store/tasks.js';
import { advance } from './advance.js';
import { showBallot } from '../approvals/ballot-view.js';
import { showBoards } from '../intake/boards.js';
import { cancelledTasks } from '../tasks/cancelled.js';
import type { Flight } from '../core/flight.js';
import { capacity } from '../core/capacity.js';
import { stopCancelled, takeIntents } from '../intake/intents.js';
import { readyQueue } from '../core/ready-queue.js';
import { takeIn } from '../intake/intake.js';
import { canStart, lockShared, mustWaitAlone, runnable } from './runnable.js';
import { engineContext } from './engine-context.js';
import { flightTable } from './flights.js';
import { followers } from './follow.js';
import { isSuspect } from '../../domain/task/lost-takers.js';
import { record, type EngineContext, type Ports } from '../core/context.js';
import { passedOver } from './passed-over.js';
import { registry } from './registry.js';
import { statePublisher } from './publish-states.js';
import { sweepNeeds } from '../coordination/needs-sweep.js';
import { stuck } from './stuck.js';
import { wrapUp } from './wrap-up.js';
import { voting } from '../coordination/voting.js';
import { deadlocks } from '../coordination/deadlocks.js';

export interface PumpReport {
  /** Something changed or was started. */
  moved: boolean;
  /** Something has already changed, so an immediate pass may find more to do. */
  again: boolean;
  /** Tasks started in this pass. */
  advanced: number;
  open: number;
  problems: Problem[];
  /** How long scanning the folders took; absent: not scanned. */
  scanMs?: number;
  /** When the next task that waits for a time can continue, in epoch milliseconds; absent: none. */
  due?: number;
  /** Time until a pass must publish changed agent states; absent: all are published. */
  publishInMs?: number;
  /** Time until a pass must look at the ballot again: a person may be saving it; absent: none. */
  lookInMs?: number;
}

/**
 * none: uses memory only · rules: reads agents, policy and pauses, enough for a task made here ·
 * changed: also lists changed folders · all: compares every file.
 */
export type Look = 'none' | 'rules' | 'changed' | 'all';

/**
 * `root`: the tree of the task that has left this process. `follow` starts the next step of its
 * pattern, or returns false if a pass must look.
 */
export type OnEnd = (moved: boolean, root: string, follow: () => boolean) => void;

export interface Engine {
  /** One pass, then waits for everything it started. `roots`: start only tasks of these trees. */
  pump(roots?: ReadonlySet<string>): Promise<PumpReport>;
  /** One pass that only starts tasks; `onEnd` is called when one of them leaves this process. */
  pass(look: Look, onEnd: OnEnd, roots?: ReadonlySet<string>): Promise<PumpReport>;
  /** Every pass waits for everything it started, as `pump` does. */
  isSettling: boolean;
  flights: ReadonlyMap<string, Flight>;
  isFlying(root: string): boolean;
  /** Whether the last pass found a task of this tree that could start if there were capacity. */
  isPassedOver(root: string): boolean;
  /** Updates `agents/registry.json`; for a long-running process. */
  showRegistry(): Promise<void>;
  /** Removes this process from the registry, after it has left the workspace. */
  left(): Promise<void>;
  /** Writes views, publishes states and commits history. Does not wait for the last two. */
  wrapUp(): Promise<void>;
  /** Like `wrapUp`, but waits until everything is on disk. */
  tidy(): Promise<void>;
  /** Tasks that could start if there were capacity. */
  backlog(): number;
  /**
   * Stops all running turns, releases their tasks, and resolves when none is left. A pass that is
   * running starts nothing more. `kept`: trees that other goals of this process still work on.
   */
  stop(kept?: ReadonlySet<string>): Promise<void>;
}

const MAX_SCANS = 4;

export function engine(ports: Ports): Engine {
  const table = flightTable();
  const flights = table.all;
  const queue = readyQueue(ports.tasks);
  const publisher = statePublisher({ ...ports, queue });
  const waits = deadlocks(ports);
  const rootOf = (id: string): string => waits.find(id)?.task.root ?? id.split('.')[0]!;
  const effectsUnderWay = new Map<string, number>();
  const votes = voting({ ...ports, effectsUnderWay }, flights, rootOf, lookAgain);
  const stuckWork = stuck(ports, rootOf);
  const heard = { ...ports, watchers: { ...ports.watchers, event: hear } };
  const context = engineContext(heard, { queue, waits, votes, effectsUnderWay, lookAgain });
  const nudged = new Set<string>();
  let backlog = 0;
  const skipped = passedOver(queue);
  /** Number of stops. A pass that began before the last one starts nothing more. */
  let stops = 0;
  let failure: unknown;
  let isSwept = false;
  /** Tasks found missing since the last pass that scanned. */
  const gone = new Set<string>();
  const views = wrapUp(context, { publisher, stuckWork }, (thrown) => void (failure ??= thrown));
  return {
    pump,
    pass,
    isSettling: false,
    flights,
    isFlying: table.hasRoot,
    isPassedOver: skipped.has,
    ...views,
    ...registry(context, publisher),
    backlog: () => backlog,
    stop,
  };

  function hear(event: Event): void {
    publisher.heard(event);
    votes.heard(event);
    stuckWork.heard(event);
    ports.watchers.event(event);
  }

  /** Waits for a ballot that a person may be saving, but not for ever. */
  async function pump(roots?: ReadonlySet<string>): Promise<PumpReport> {
    const end = context.clock.monotonicMs() + INTERVALS.ballotPatienceMs;
    for (;;) {
      const report = await pumpOnce(roots);
      const waitMs = context.ballot.dueMs('read');
      if (report.moved || waitMs === undefined || context.clock.monotonicMs() > end) return report;
      await context.clock.sleep(waitMs);
    }
  }

  async function pumpOnce(roots?: ReadonlySet<string>): Promise<PumpReport> {
    let ended = false;
    const onEnd = (): void => void (ended = true);
    const report = await passAndPublish('all', onEnd, roots).catch((thrown: unknown) => void (failure ??= thrown));
    await landFlights();
    rethrow();
    if (report === undefined) throw failure;
    await views.tidy();
    return { ...report, moved: report.moved || ended, open: context.tasks.openCount() };
  }

  /** Waits for all flights. No pass runs meanwhile, so this checks for cancellations itself. */
  async function landFlights(): Promise<void> {
    let looking: Promise<void> | undefined;
    const look = async (): Promise<void> => {
      try {
        await stopCancelled(context, flights);
        await votes.look();
      } catch (thrown) {
        failure ??= thrown; // a disk failure; reported when all flights have ended
      }
      looking = undefined;
    };
    const timer = setInterval(() => void (looking ??= look()), INTERVALS.folderCheckMs);
    while (flights.size > 0) await Promise.all([...flights.values()].map((flight) => flight.done));
    clearInterval(timer);
    await looking;
  }

  async function passAndPublish(...args: Parameters<Engine['pass']>): Promise<PumpReport> {
    const report = await runPass(...args);
    await publisher.publish();
    return report;
  }

  async function pass(...args: Parameters<Engine['pass']>): Promise<PumpReport> {
    const report = await runPass(...args);
    const publishInMs = publisher.dueInMs();
    // No task waits for the states. If they cannot be published, the next pass fails.
    if (publishInMs === 0) publisher.publish().catch((thrown: unknown) => void (failure ??= thrown));
    return { ...report, ...(publishInMs ? { publishInMs } : {}) };
  }

  async function runPass(look: Look, onEnd: OnEnd, roots?: ReadonlySet<string>): Promise<PumpReport> {
    rethrow();
    const before = stops;
    const problems = look === 'none' ? context.agents.refresh(true) : readRules();
    const isScan = look === 'changed' || look === 'all';
    const scanned = isScan ? await scanAndTakeIn(look, problems) : undefined;
    let moved = scanned?.moved ?? false;
    for (const problem of problems) report(context, problem);
    const recent = isScan ? [] : await context.intents.list({ maxAgeMs: INTERVALS.requestAgeMs });
    const hasCancel = recent.some(({ kind }) => kind === 'cancel');
    if (hasCancel && (await takeIntents(context, flights, nudged))) moved = true;
    if (await waits.look()) {
      await takeIntents(context, flights, nudged);
      moved = true;
    }
    const needs = await sweepNeeds(context);
    moved = needs.moved || moved;
    const free = await capacity(context);
    const { queue: ready, due } = await runnable(context, table, needs, roots);
    let isCancelled = await cancelledTasks(context);
    let advanced = 0;
    backlog = 0;
    const noted = skipped.begin();
    for (let task = ready.next(); task !== undefined; task = ready.next()) {
      if (stops !== before) break;
      // Another pass of this process may have started it while this one waited.
      if (flights.has(task.id) || isCancelled(task)) continue;
      const isStarted = canStart(context, table, free, task) && (await start(task, onEnd));
      if (!isStarted) {
        backlog += ready.pass();
        noted.note(task);
        stuckWork.passedOver(task, assigneeName(context, task));
        // Nothing starts behind a suspect, because it could then never run alone.
        if (isSuspect(task) && mustWaitAlone(table, task)) break;
        continue;
      }
      advanced++;
      if (!context.isSequential) continue;
      await flights.get(task.id)?.done;
      isCancelled = await cancelledTasks(context);
    }
    noted.done();
    await stuckWork.report();
    await showBallot(context, isScan);
    await showBoards(context);
    const lookInMs = Math.min(context.ballot.dueMs('read') ?? Infinity, context.ballot.dueMs('write') ?? Infinity);
    return defined({
      moved: moved || advanced > 0,
      again: moved,
      advanced,
      open: context.tasks.openCount(),
      problems,
      scanMs: scanned?.scanMs,
      due: due === Infinity ? undefined : due,
      lookInMs: lookInMs === Infinity ? undefined : lookInMs,
    });
  }

  function readRules(): Problem[] {
    const problems = [...context.agents.refresh(), ...context.gate.refresh()];
    context.pauses.look();
    const paused = context.pauses.tasks();
    if (paused.size > 0) for (const { root, stop } of flights.values()) if (paused.has(root)) stop.abort();
    return problems;
  }

  /** Scans the store and takes in what dead processes, people and the outside world left. */
  async function scanAndTakeIn(
    look: 'changed' | 'all',
    problems: Problem[],
  ): Promise<{ moved: boolean; scanMs: number }> {
    if (!isSwept) await context.presence.sweep();
    isSwept = true;
    // A process that hosts only some agents must be visible to the others before it works.
    if (context.hosts !== undefined) await context.presence.join();
    const from = context.clock.monotonicMs();
    const seen = await context.tasks.scan(look === 'all');
    const scanMs = context.clock.monotonicMs() - from;
    problems.push(...seen.problems);
    reportStrays(context, seen);
    for (const id of seen.gone ?? []) gone.add(id);
    const left = [...gone];
    gone.clear();
    const intake = await takeIn(context, flights, nudged, left);
    problems.push(...intake.problems);
    return { moved: intake.moved, scanMs };
  }

  /** Scans until nothing changes, because a listing can miss a task that moves meanwhile. */
  async function lookAgain(): Promise<void> {
    for (let scans = 1; scans <= MAX_SCANS; scans++) {
      const before = context.tasks.version();
      const seen = await context.tasks.scan();
      for (const problem of seen.problems) report(context, problem);
      reportStrays(context, seen);
      for (const id of seen.gone ?? []) gone.add(id);
      if (scans > 1 && before === context.tasks.version()) return;
    }
  }

  /**
   * False if another task holds a lock that it needs. The flight is registered before the first
   * await, so this process cannot start the task twice or give its capacity to another.
   */
  function start(task: Task, onEnd: OnEnd): Promise<boolean> {
    const stop = new AbortController();
    const agent = assigneeName(context, task);
    const here = table.ofAgent(agent);
    const isLocked = lockShared(context, task, context.agents.all().get(agent));
    const flight: Flight = {
      task: task.id,
      root: task.root,
      agent: roleFacts(task.role).takesCapacity ? agent : 'nobody',
      stop,
      isAlone: isSuspect(task),
      done: Promise.resolve(),
    };
    table.add(flight);
    flight.done = fly();
    return isLocked;

    async function fly(): Promise<void> {
      let moved: boolean | undefined;
      try {
        if (!(await isLocked)) return;
        stuckWork.started(task.id, agent);
        moved = await advance(context, task, stop.signal, here);
      } catch (thrown) {
        // The claim is left for the next process to recover. Nothing more is started here.
        failure ??= thrown;
        moved = false;
      } finally {
        table.remove(flight);
        if (moved !== undefined) onEnd(moved, task.root, follow);
      }
    }

    function follow(): boolean {
      if (stop.signal.aborted || context.isSequential || backlog > 0 || failure !== undefined) return false;
      const next = followers(context, table, task);
      for (const each of next ?? []) void start(each, onEnd);
      return next !== undefined;
    }
  }

  async function stop(kept: ReadonlySet<string> = new Set()): Promise<void> {
    stops++;
    if (kept.size === 0) votes.close();
    const leaving = (): Flight[] => [...flights.values()].filter(({ root }) => !kept.has(root));
    for (const flight of leaving()) flight.stop.abort();
    for (let left = leaving(); left.length > 0; left = leaving()) await Promise.all(left.map(({ done }) => done));
    await views.wrappedUp();
    if (failure !== undefined) return;
    await publisher.publish();
    await context.flush();
  }

  function rethrow(): void {
    if (failure !== undefined) throw failure;
  }
}

/** Stray files belong to no task, so they are not recorded. */
function reportStrays(context: EngineContext, { strays = [] }: Scan): void {
  for (const stray of strays) context.watchers.problem(stray);
}

function report(context: EngineContext, problem: Problem): void {
  context.watchers.problem(problem);
  const isHeld = problem.movedTo === undefined;
  // Every process tells its user; history records it once.
  if (!isHeld || context.heldFiles.isNews(problem))
    record(context, isHeld ? 'file.held' : 'file.quarantined', { problem });
}
