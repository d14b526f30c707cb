/**
 * The engine: passes over the open tasks. A pass is level-triggered: it looks at what is there, not at what happened, so
 * it can be repeated, interrupted or run by several processes at once. Losing every event costs time, never truth.
 */
import { compareText } from '../domain/order.js';
import type { Event } from '../domain/event.js';
import type { Problem } from '../domain/problem.js';
import { HUMAN, isEnded, type Task } from '../domain/task.js';
import { isLeaf } from '../rules/decide.js';
import { cycleProblem, dependencyCycle, mayMove } from '../rules/ready.js';
import type { OpenTask } from '../ports/store.js';
import { advance } from './advance.js';
import { sessionId } from './conversation.js';
import { showBallot, tendBallot } from './approvals.js';
import { showBoards, tendBoards } from './boards.js';
import { checkIn } from './check-in.js';
import { fail } from './end.js';
import type { Flight } from './flight.js';
import { stopCancelled, takeIntents, takerOf } from './intake.js';
import { takeMail } from './mail.js';
import { tendMoved } from './moved.js';
import type { Parts } from './parts.js';
import { record } from './parts.js';
import { recover } from './recover.js';
import { states } from './states.js';

export interface PumpReport {
  /** Anything changed, or was started. */
  moved: boolean;
  /** Something changed already, so that another pass at once may find more to do. */
  again: boolean;
  /** Tasks that were advanced in this pass. */
  advanced: number;
  open: number;
  problems: Problem[];
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
  /** Work that could start if there were room. */
  backlog(): number;
  /** Lets every running turn end or stop, puts the tasks back, and resolves when none is left. */
  stop(): Promise<void>;
}

/** How often a pass that waits looks for a cancel. */
const LOOK_MS = 250;

export function engine(given: Parts): Engine {
  const telling = states(given);
  const parts: Parts = { ...given, watchers: { ...given.watchers, event: hear } };
  const flights = new Map<string, Flight>();
  const nudged = new Set<string>();
  let backlog = 0;
  let broken: unknown;
  let swept = false;

  return { pump, pass, flights, backlog: () => backlog, stop };

  function hear(event: Event): void {
    telling.heard(event);
    given.watchers?.event?.(event);
  }

  async function pump(roots?: ReadonlySet<string>): Promise<PumpReport> {
    let ended = false;
    const report = await pass(
      'all',
      () => {
        ended = true;
      },
      roots,
    );
    await landed();
    rethrow();
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
    const problems = [...parts.agents.refresh(), ...(parts.gate?.refresh() ?? [])];
    parts.pauses?.look();
    let moved = false;
    if (look !== 'none') {
      if (!swept) parts.store.sweep();
      swept = true;
      const seen = await parts.store.scan(look === 'all');
      problems.push(...seen.problems);
      moved = (await recover(parts)) > 0;
      moved = (await tendMoved(parts, seen.gone ?? [])) || moved;
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
    }
    for (const one of problems) report(one);
    const { movable, cyclic } = await sort(roots);
    for (const [task, cycle] of cyclic) moved = (await failCyclic(task, cycle)) || moved;
    let advanced = 0;
    backlog = 0;
    for (const task of movable) {
      if (!hasRoom(task)) {
        backlog++;
        continue;
      }
      start(task, onEnd);
      advanced++;
      if (parts.inTurn) await flights.get(task.id)?.done;
    }
    await showBallot(parts);
    await showBoards(parts);
    await telling.tell();
    return { moved: moved || advanced > 0, again: moved, advanced, open: parts.store.openCount(), problems };
  }

  /** What can move now, most urgent first. */
  async function sort(roots?: ReadonlySet<string>): Promise<{ movable: Task[]; cyclic: [Task, string[]][] }> {
    const now = parts.clock.now().toISOString();
    const isOpen = (id: string): boolean => parts.store.isOpen(id);
    const movable: OpenTask[] = [];
    const blocked: Task[] = [];
    for (const one of parts.store.open()) {
      if (roots !== undefined && !roots.has(one.task.root)) continue;
      if (one.state === 'active' || flights.has(one.task.id) || one.task.to === HUMAN || !isHosted(one.task)) continue;
      if (isPaused(one.task)) continue;
      if (!mayMove(one.task, one.state, isOpen, now)) {
        if (one.state === 'pending') blocked.push(one.task);
      } else if (one.state === 'waiting' || (await dependenciesEnded(one.task))) movable.push(one);
    }
    movable.sort(
      (a, b) => compareText(a.task.priority, b.task.priority) || compareText(a.task.created_at, b.task.created_at),
    );
    return { movable: movable.map((one) => one.task), cyclic: blocked.length > 0 ? cycles(blocked) : [] };
  }

  /** A dependency that is not there yet may still be dropped into the folder, and one that another process just made is not known here: its task waits. */
  async function dependenciesEnded(task: Task): Promise<boolean> {
    for (const id of task.dependencies) {
      const placed = await parts.store.read(id);
      if (placed === undefined || !isEnded(placed.state)) return false;
    }
    return true;
  }

  /** All are found before the first is failed, so that each can name its whole circle. */
  function cycles(blocked: Task[]): [Task, string[]][] {
    const byId = new Map(blocked.map((task) => [task.id, task]));
    return blocked.flatMap((task) => {
      const cycle = dependencyCycle(task, (id) => byId.get(id));
      return cycle === undefined ? [] : [[task, cycle] as [Task, string[]]];
    });
  }

  async function failCyclic(task: Task, cycle: string[]): Promise<boolean> {
    const claim = parts.store.claim(task.id, task.to ?? 'nobody');
    if (claim === undefined) return false;
    await fail(parts, claim, claim.task, cycleProblem(cycle));
    return true;
  }

  function isHosted(task: Task): boolean {
    return parts.hosts === undefined || parts.hosts.has(nameOf(task));
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
    flights.set(task.id, { task: task.id, agent: nameOf(task), stop, done });
  }

  async function stop(): Promise<void> {
    for (const flight of flights.values()) flight.stop.abort();
    while (flights.size > 0) await Promise.all([...flights.values()].map((flight) => flight.done));
    if (broken === undefined) await parts.store.flush();
  }

  function rethrow(): void {
    if (broken !== undefined) throw broken;
  }

  function report(one: Problem): void {
    parts.watchers?.problem?.(one);
    record(parts, one.message.includes('was moved to') ? 'file.quarantined' : 'file.held', { problem: one });
  }
}
