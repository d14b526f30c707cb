/**
 * The engine: passes over the open tasks. A pass is level-triggered: it looks at what is there, not at what happened, so
 * it can be repeated, interrupted or run by several processes at once. Losing every event costs time, never truth.
 */
import { INTERVALS } from '../../domain/intervals.js';
import { assigneeName } from '../core/assignee.js';
import { listenToNotes } from '../coordination/mesh.js';
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
import { unreadableSessions } from '../conversation/unreadable.js';
import { stopCancelled, takeIntents } from '../intake/intents.js';
import { readyQueue } from '../core/ready-queue.js';
import { takeIn } from '../intake/intake.js';
import { busyHere, hasRoom, movable, takesTurn } from './runnable.js';
import { pace } from '../core/pace.js';
import { record, type EngineContext, type Ports } from '../core/context.js';
import { registry } from './registry.js';
import { states } from './publish-states.js';
import { sweepNeeds } from '../coordination/needs-sweep.js';
import { stuck } from './stuck.js';
import { voting } from '../coordination/voting.js';
import { deadlocks } from '../coordination/deadlocks.js';

export interface PumpReport {
  /** Anything changed, or was started. */
  moved: boolean;
  /** Something changed already, so that another pass at once may find more to do. */
  again: boolean;
  /** Tasks that were advanced in this pass. */
  advanced: number;
  open: number;
  problems: Problem[];
  /** How long it took to look at the folders; absent: that was not done. */
  scanMs?: number;
  /** When something that waits for a time can go on, in milliseconds since 1970; absent: nothing does. */
  due?: number;
  /** How agents' states changed is told by a pass after so many milliseconds; absent: all is told. */
  untold?: number;
}

/** none: uses only what is known · changed: lists folders that changed · all: compares every file. */
export type Look = 'none' | 'changed' | 'all';

export interface Engine {
  /** One pass, and all it started brought to an end. `roots`: only tasks of these trees are started. */
  pump(roots?: ReadonlySet<string>): Promise<PumpReport>;
  /** One pass that only starts things; `onEnd` is called whenever one of them ends. */
  pass(look: Look, onEnd: (moved: boolean) => void, roots?: ReadonlySet<string>): Promise<PumpReport>;
  /** Every pass brings all it started to an end, as `pump` does. */
  isSettling: boolean;
  flights: ReadonlyMap<string, Flight>;
  /** Brings `agents/registry.json` up to date; for a process that stays. */
  showRegistry(): Promise<void>;
  /** Strikes this process out of it, once it has left the workspace. */
  left(): Promise<void>;
  /** What passes end with: shows and tells how things stand. Results are durable when their tasks have ended; history follows. */
  wrapUp(): Promise<void>;
  /** Work that could start if there were room. */
  backlog(): number;
  /** Lets every running turn end or stop, puts the tasks back, and resolves when none is left. */
  stop(): Promise<void>;
}

const MOST_LOOKS = 4;

export function engine(ports: Ports): Engine {
  const flights = new Map<string, Flight>();
  const queue = readyQueue(ports.tasks);
  const telling = states({ ...ports, queue });
  const waits = deadlocks(ports);
  const rootOf = (id: string): string => waits.find(id)?.task.root ?? id.split('.')[0]!;
  const effectsUnderWay = new Map<string, number>();
  const votes = voting({ ...ports, effectsUnderWay }, flights, rootOf, lookAgain);
  const slow = stuck(ports, rootOf);
  const context: EngineContext = {
    ...ports,
    queue,
    waits,
    votes,
    effectsUnderWay,
    hearingNotes: new Set(),
    fitCache: new WeakMap(),
    folds: { background: new WeakMap(), taint: new WeakMap() },
    heardNotes: listenToNotes(ports.bus),
    unreadable: unreadableSessions(ports),
    lookAgain,
    pace: pace(ports.clock, ports.config.limits.tasksPerMinute, ports.creationRate),
    watchers: { ...ports.watchers, event: hear },
  };
  const nudged = new Set<string>();
  let backlog = 0;
  let broken: unknown;
  let swept = false;
  /** Found missing since the last pass that looked. */
  const gone = new Set<string>();

  const book = registry(context, telling);
  return {
    pump,
    pass,
    isSettling: false,
    flights,
    wrapUp,
    showRegistry: book.show,
    left: book.left,
    backlog: () => backlog,
    stop,
  };

  function hear(event: Event): void {
    telling.heard(event);
    votes.heard(event);
    slow.heard(event);
    ports.watchers.event(event);
  }

  async function pump(roots?: ReadonlySet<string>): Promise<PumpReport> {
    let ended = false;
    const onEnd = (): void => void (ended = true);
    const report = await told('all', onEnd, roots).catch((thrown: unknown) => void (broken ??= thrown));
    await landed();
    rethrow();
    if (report === undefined) throw broken;
    await tidy();
    return { ...report, moved: report.moved || ended, open: context.tasks.openCount() };
  }

  async function tidy(): Promise<void> {
    await shownAndTold();
    await context.flush();
    context.audit.passed();
  }

  async function wrapUp(): Promise<void> {
    await showBallot(context, false);
    await showBoards(context, true);
    kept().catch((thrown: unknown) => void (broken ??= thrown));
  }

  async function kept(): Promise<void> {
    await slow.tell();
    await telling.tell();
    await context.flush({ visible: false });
    if (!context.audit.isKept) return;
    await context.flush();
    context.audit.passed();
  }

  async function shownAndTold(): Promise<void> {
    await slow.tell();
    await showBallot(context, true);
    await showBoards(context, true);
    await telling.tell();
  }

  /** Waits for all flights. Nobody looks at the folders meanwhile, so what people cancel is looked for here. */
  async function landed(): Promise<void> {
    let looking: Promise<void> | undefined;
    const look = async (): Promise<void> => {
      try {
        await stopCancelled(context, flights);
        await votes.look();
      } catch (thrown) {
        broken ??= thrown; // the disk failed; it is reported when the flights have landed
      }
      looking = undefined;
    };
    const timer = setInterval(() => void (looking ??= look()), INTERVALS.folderCheckMs);
    while (flights.size > 0) await Promise.all([...flights.values()].map((flight) => flight.done));
    clearInterval(timer);
    await looking;
  }

  async function told(...given: Parameters<Engine['pass']>): Promise<PumpReport> {
    const report = await started(...given);
    await telling.tell();
    return report;
  }

  async function pass(...given: Parameters<Engine['pass']>): Promise<PumpReport> {
    const report = await started(...given);
    const untold = await telling.tellSoon();
    return { ...report, ...(untold === undefined ? {} : { untold }) };
  }

  async function started(
    look: Look,
    onEnd: (moved: boolean) => void,
    roots?: ReadonlySet<string>,
  ): Promise<PumpReport> {
    rethrow();
    const problems = context.agents.refresh(look === 'none');
    let moved = false;
    let scanMs: number | undefined;
    if (look !== 'none') {
      problems.push(...context.gate.refresh());
      context.pauses.look();
      if (!swept) await context.presence.sweep();
      swept = true;
      // Whoever works for some agents only is one of several: the others must know that it is there before it has anything to do.
      if (context.hosts !== undefined) await context.presence.join();
      const from = context.clock.monotonicMs();
      const seen = await context.tasks.scan(look === 'all');
      scanMs = context.clock.monotonicMs() - from;
      problems.push(...seen.problems);
      tellStrays(seen);
      for (const id of seen.gone ?? []) gone.add(id);
      const left = [...gone];
      gone.clear();
      const intake = await takeIn(context, flights, nudged, left);
      problems.push(...intake.problems);
      moved = intake.moved;
    }
    for (const one of problems) report(one);
    const isCancelled = look === 'none' && (await context.intents.list()).some(({ kind }) => kind === 'cancel');
    if (isCancelled && (await takeIntents(context, flights, nudged))) moved = true;
    if (await waits.look()) {
      await takeIntents(context, flights, nudged);
      moved = true;
    }
    const needs = await sweepNeeds(context);
    moved = needs.moved || moved;
    const free = await capacity(context);
    const { line, due } = await movable(context, flights, needs, roots);
    let isOff = await cancelledTasks(context);
    let advanced = 0;
    backlog = 0;
    for (let task = line.next(); task !== undefined; task = line.next()) {
      // Another pass of this process may have started it while this one waited.
      if (flights.has(task.id) || isOff(task)) continue;
      const isStarted = hasRoom(context, flights, free, task) && (await start(task, onEnd));
      if (!isStarted) {
        backlog += line.pass();
        slow.passedOver(task, assigneeName(context, task));
        continue;
      }
      advanced++;
      if (!context.isSequential) continue;
      await flights.get(task.id)?.done;
      isOff = await cancelledTasks(context);
    }
    await slow.tell();
    await showBallot(context, look !== 'none');
    await showBoards(context);
    return {
      moved: moved || advanced > 0,
      again: moved,
      advanced,
      open: context.tasks.openCount(),
      problems,
      ...(scanMs === undefined ? {} : { scanMs }),
      ...(due === Infinity ? {} : { due }),
    };
  }

  /**
   * For who must know in the middle of a pass how things stand now. Folders are listed one after the other, and a task that moves meanwhile can
   * be missed: so they are looked at until nothing is new. What is found missing is dealt with in the next pass.
   */
  async function lookAgain(): Promise<void> {
    for (let looks = 1; looks <= MOST_LOOKS; looks++) {
      const before = context.tasks.version();
      const seen = await context.tasks.scan();
      for (const one of seen.problems) report(one);
      tellStrays(seen);
      for (const id of seen.gone ?? []) gone.add(id);
      if (looks > 1 && before === context.tasks.version()) return;
    }
  }

  /**
   * False if it is not this task's turn. The flight is entered before the first await: until it has landed nobody else
   * in this process starts the task, or gives away its place among the tasks of its agent.
   */
  function start(task: Task, onEnd: (moved: boolean) => void): Promise<boolean> {
    const stop = new AbortController();
    const agent = assigneeName(context, task);
    const here = busyHere(flights, agent);
    const turn = takesTurn(context, task, context.agents.all().get(agent));
    flights.set(task.id, {
      task: task.id,
      agent: roleFacts(task.role).takesCapacity ? agent : 'nobody',
      stop,
      done: landing(),
    });
    return turn;

    async function landing(): Promise<void> {
      let moved: boolean | undefined;
      try {
        if (!(await turn)) return;
        slow.began(task.id, agent);
        moved = await advance(context, task, stop.signal, here);
      } catch (thrown) {
        // The claim stays behind as it is. Nothing more is started: whoever opens the workspace next recovers it.
        broken ??= thrown;
        moved = false;
      } finally {
        flights.delete(task.id);
        if (moved !== undefined) onEnd(moved);
      }
    }
  }

  async function stop(): Promise<void> {
    votes.close();
    for (const flight of flights.values()) flight.stop.abort();
    while (flights.size > 0) await Promise.all([...flights.values()].map((flight) => flight.done));
    if (broken !== undefined) return;
    await telling.tell();
    await context.flush();
  }

  function rethrow(): void {
    if (broken !== undefined) throw broken;
  }

  /** Not recorded: they are nothing to do with any task. */
  function tellStrays({ strays = [] }: Scan): void {
    for (const one of strays) context.watchers.problem(one);
  }

  function report(one: Problem): void {
    context.watchers.problem(one);
    record(context, one.movedTo === undefined ? 'file.held' : 'file.quarantined', { problem: one });
  }
}
