/**
 * The engine: passes over the open tasks. A pass is level-triggered: it looks at what is there, not at what happened, so
 * it can be repeated, interrupted or run by several processes at once. Losing every event costs time, never truth.
 */
import { compareText } from '../domain/order.js';
import type { Event } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { HUMAN, isEnded, type Task } from '../domain/task.js';
import { isLeaf } from '../rules/decide.js';
import { mayOffer } from '../rules/offer.js';
import { mayMove } from '../rules/ready.js';
import type { OpenTask } from '../ports/store.js';
import { advance } from './advance.js';
import { sessionId } from './conversation.js';
import { showBallot, tendBallot } from './approvals.js';
import { showBoards, tendBoards } from './boards.js';
import { checkIn } from './check-in.js';
import type { Flight } from './flight.js';
import { room } from './free.js';
import { stopCancelled, takeIntents, takerOf } from './intake.js';
import { takeMail } from './mail.js';
import { isNeed } from './needs.js';
import { tendMoved } from './moved.js';
import { pace } from './pace.js';
import { endAbandonedBids } from './offer.js';
import type { Parts } from './parts.js';
import { record } from './parts.js';
import { retireFailing } from './probation.js';
import { recover } from './recover.js';
import { registry } from './registry.js';
import { states } from './states.js';
import { tendNeeds, type Tended } from './tend-needs.js';
import { stuck } from './stuck.js';
import { voting } from './voting.js';
import { waiting } from './waiting.js';

export interface PumpReport {
  /** Anything changed, or was started. */
  moved: boolean;
  /** Something changed already, so that another pass at once may find more to do. */
  again: boolean;
  /** Tasks that were advanced in this pass. */
  advanced: number;
  open: number;
  problems: Problem[];
  /** When something that waits for a time can go on, in milliseconds since 1970; absent: nothing does. */
  due?: number;
}

export interface Engine {
  /** One pass, and all it started brought to an end. `roots`: only tasks of these trees are started. */
  pump(roots?: ReadonlySet<string>): Promise<PumpReport>;
  /** One pass that only starts things; `onEnd` is called whenever one of them ends. `look`: none uses only what is known, changed lists folders that changed, all compares every file. */
  pass(
    look: 'none' | 'changed' | 'all',
    onEnd: (moved: boolean) => void,
    roots?: ReadonlySet<string>,
  ): Promise<PumpReport>;
  flights: ReadonlyMap<string, Flight>;
  /** Brings `agents/registry.json` up to date; for a process that stays. */
  showRegistry(): void;
  /** Strikes this process out of it, once it has left the workspace. */
  left(): void;
  /** Work that could start if there were room. */
  backlog(): number;
  /** Lets every running turn end or stop, puts the tasks back, and resolves when none is left. */
  stop(): Promise<void>;
}

/** How often a pass that waits looks for a cancel. */
const LOOK_MS = 250;
const MOST_LOOKS = 4;

export function engine(given: Parts): Engine {
  const telling = states(given);
  const waits = waiting(given);
  const flights = new Map<string, Flight>();
  const rootOf = (id: string): string => waits.find(id)?.task.root ?? id.split('.')[0]!;
  const votes = voting(given, flights, rootOf, lookAgain);
  const slow = stuck(given, rootOf);
  // Our own stand before what was given and do not copy it: a part that is exchanged later is exchanged here too.
  const own = {
    waits,
    votes,
    pace: pace(given.clock, given.config.limits.tasksPerMinute),
    watchers: { ...given.watchers, event: hear },
  };
  const parts: Parts = Object.assign(Object.create(given) as Parts, own);
  const nudged = new Set<string>();
  let backlog = 0;
  let free = room(given);
  let broken: unknown;
  let swept = false;
  /** Found missing since the last pass that looked. */
  const gone = new Set<string>();

  const book = registry(parts, telling);
  return { pump, pass, flights, showRegistry: book.show, left: book.left, backlog: () => backlog, stop };

  function hear(event: Event): void {
    telling.heard(event);
    votes.heard(event);
    slow.heard(event);
    given.watchers?.event?.(event);
  }

  async function pump(roots?: ReadonlySet<string>): Promise<PumpReport> {
    let ended = false;
    const onEnd = (): void => void (ended = true);
    const report = await pass('all', onEnd, roots).catch((thrown: unknown) => void (broken ??= thrown));
    await landed();
    rethrow();
    if (report === undefined) throw broken;
    await showBallot(parts);
    await showBoards(parts, true);
    await telling.tell();
    await parts.store.flush();
    parts.audit?.passed();
    return { ...report, moved: report.moved || ended, open: parts.store.openCount() };
  }

  /** Waits for all flights. Nobody looks at the folders meanwhile, so what people cancel is looked for here. */
  async function landed(): Promise<void> {
    const look = setInterval(() => {
      try {
        stopCancelled(parts, flights);
        votes.look();
      } catch (thrown) {
        broken ??= thrown; // the disk failed; it is told when the flights have landed
      }
    }, LOOK_MS);
    while (flights.size > 0) await Promise.all([...flights.values()].map((flight) => flight.done));
    clearInterval(look);
  }

  async function pass(
    look: 'none' | 'changed' | 'all',
    onEnd: (moved: boolean) => void,
    roots?: ReadonlySet<string>,
  ): Promise<PumpReport> {
    rethrow();
    free = room(parts);
    const problems = [...parts.agents.refresh(), ...(parts.gate?.refresh() ?? [])];
    parts.pauses?.look();
    let moved = false;
    if (look !== 'none') {
      if (!swept) parts.store.sweep();
      swept = true;
      // Whoever works for some agents only is one of several: the others must know that it is there before it has anything to do.
      if (parts.hosts !== undefined) parts.store.join();
      const seen = await parts.store.scan(look === 'all');
      problems.push(...seen.problems);
      for (const id of seen.gone ?? []) gone.add(id);
      const left = [...gone];
      gone.clear();
      moved = (await recover(parts)) > 0;
      moved = (await endAbandonedBids(parts)) || moved;
      moved = (await tendMoved(parts, left)) || moved;
      moved = (await takeIntents(parts, flights, nudged)) || moved;
      moved = (await tendBallot(parts)) || moved;
      const mail = await takeMail(parts);
      problems.push(...mail.problems);
      moved = mail.moved || moved;
      const tended = await tendBoards(parts, flights);
      problems.push(...tended.problems);
      moved = tended.moved || moved;
      const checked = await checkIn(parts);
      problems.push(...checked.problems);
      moved = checked.moved || moved;
      moved = retireFailing(parts) || moved;
    }
    for (const one of problems) report(one);
    if (await waits.look()) {
      await takeIntents(parts, flights, nudged);
      moved = true;
    }
    const needs = await tendNeeds(parts);
    moved = needs.moved || moved;
    const { movable, due } = await sort(needs, roots);
    let advanced = 0;
    backlog = 0;
    for (const task of movable) {
      if (!hasRoom(task)) {
        backlog++;
        slow.passedOver(task, nameOf(task));
        continue;
      }
      start(task, onEnd);
      advanced++;
      if (parts.inTurn) await flights.get(task.id)?.done;
    }
    await showBallot(parts);
    await showBoards(parts);
    await telling.tell();
    return {
      moved: moved || advanced > 0,
      again: moved,
      advanced,
      open: parts.store.openCount(),
      problems,
      ...(due === Infinity ? {} : { due }),
    };
  }

  /**
   * For who must know in the middle of a pass how things stand now. Folders are listed one after the other, and a task that moves meanwhile can
   * be missed: so they are looked at until nothing is new. What is found missing is dealt with in the next pass.
   */
  async function lookAgain(): Promise<void> {
    for (let looks = 1; looks <= MOST_LOOKS; looks++) {
      const before = parts.store.changes?.();
      const seen = await parts.store.scan();
      for (const one of seen.problems) report(one);
      for (const id of seen.gone ?? []) gone.add(id);
      if (looks > 1 && before === parts.store.changes?.()) return;
    }
  }

  /** What can move now, most urgent first, and when the next of those that wait for a time can. */
  async function sort(needs: Tended, roots?: ReadonlySet<string>): Promise<{ movable: Task[]; due: number }> {
    const now = parts.clock.now().toISOString();
    let due = needs.due ?? Infinity;
    const isOpen = (id: string): boolean => parts.store.isOpen(id);
    const movable: OpenTask[] = [];
    for (const one of parts.store.open()) {
      if (roots !== undefined && !roots.has(one.task.root)) continue;
      if (one.state === 'active' || flights.has(one.task.id) || one.task.to === HUMAN || !isHosted(one.task)) continue;
      if (isPaused(one.task)) continue;
      if (needs.early.has(one.task.id)) continue;
      if (!mayMove(one.task, one.state, isOpen, now) && !needs.ready.has(one.task.id)) {
        if (one.task.waits?.until !== undefined) due = Math.min(due, Date.parse(one.task.waits.until));
        continue;
      }
      if (one.state === 'waiting' || (await dependenciesEnded(one.task))) movable.push(one);
    }
    movable.sort(
      (a, b) => compareText(a.task.priority, b.task.priority) || compareText(a.task.created_at, b.task.created_at),
    );
    return { movable: movable.map((one) => one.task), due };
  }

  /** A dependency that is not there yet may still be dropped into the folder, and one that another process just made is not known here: its task waits. */
  async function dependenciesEnded(task: Task): Promise<boolean> {
    for (const id of task.dependencies) {
      const placed = await parts.store.read(id);
      if (placed === undefined || !isEnded(placed.state)) return false;
    }
    return true;
  }

  function isHosted(task: Task): boolean {
    if (parts.hosts === undefined || isNeed(task)) return true;
    const taker = takerOf(parts, task);
    // What is for nobody in particular is everybody's business: whoever comes first offers it, or says that nobody can do it.
    return !('agent' in taker) || parts.hosts.has(taker.agent);
  }

  function isPaused(task: Task): boolean {
    const paused = parts.pauses?.all();
    return paused !== undefined && paused.size > 0 && paused.has(nameOf(task));
  }

  function nameOf(task: Task): string {
    const taker = takerOf(parts, task);
    return 'agent' in taker ? taker.agent : 'nobody';
  }

  function hasRoom(task: Task): boolean {
    if (flights.size >= parts.config.limits.parallel) return false;
    // To bid is not to take: an agent that is busy can still say how busy it is.
    if (task.role === 'bid') return true;
    const taker = takerOf(parts, task);
    if ('offer' in taker)
      return (
        task.waits !== undefined || (mayOffer(task, taker.offer, free.isFree) && free.takeBids(taker.offer.length))
      );
    const name = nameOf(task);
    const agent = parts.agents.all().get(name);
    // Whoever has a pattern speaks in its work, and must not keep that from its turn.
    const speaks = agent?.session === 'shared' && isLeaf(task, agent);
    if (speaks && !parts.store.takeTurn(sessionId(task, agent), task.id)) return false;
    const most = agent?.maxConcurrentTasks ?? Infinity;
    if (most === Infinity) return true;
    let busy = 0;
    for (const flight of flights.values()) if (flight.agent === name) busy++;
    return busy < most;
  }

  function start(task: Task, onEnd: (moved: boolean) => void): void {
    const stop = new AbortController();
    const done = advance(parts, task, stop.signal)
      .then(
        (moved) => moved,
        (thrown: unknown) => {
          // The claim stays behind as it is. Nothing more is started: whoever opens the workspace next recovers it.
          broken ??= thrown;
          return false;
        },
      )
      .then((moved) => {
        flights.delete(task.id);
        onEnd(moved);
      });
    slow.began(task.id, nameOf(task));
    flights.set(task.id, { task: task.id, agent: task.role === 'bid' ? 'nobody' : nameOf(task), stop, done });
  }

  async function stop(): Promise<void> {
    votes.close();
    for (const flight of flights.values()) flight.stop.abort();
    while (flights.size > 0) await Promise.all([...flights.values()].map((flight) => flight.done));
    if (broken !== undefined) return;
    await telling.tell();
    await parts.store.flush();
  }

  function rethrow(): void {
    if (broken !== undefined) throw broken;
  }

  function report(one: Problem): void {
    parts.watchers?.problem?.(one);
    record(parts, one.message.includes('was moved to') ? 'file.quarantined' : 'file.held', { problem: one });
  }
}
