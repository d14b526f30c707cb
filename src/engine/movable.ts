/** Which open tasks can move now, and for which of them there is room. A look at memory: nothing is changed here, but for the turn in a shared conversation. */
import { compareText } from '../domain/order.js';
import { HUMAN, isEnded, type Task } from '../domain/task.js';
import type { OpenTask } from '../ports/store.js';
import { isLeaf } from '../rules/decide.js';
import { mayOffer } from '../rules/offer.js';
import { mayMove } from '../rules/ready.js';
import { sessionId } from './conversation.js';
import type { Flight } from './flight.js';
import type { Room } from './free.js';
import { takerOf } from './intake.js';
import { isNeed } from './needs.js';
import type { Parts } from './parts.js';
import type { Tended } from './tend-needs.js';

type Flights = ReadonlyMap<string, Flight>;

export interface Movable {
  /** Most urgent first. */
  tasks: Task[];
  /** When the next of those that wait for a time can move; Infinity: none does. */
  due: number;
}

/** `roots`: only tasks of these trees; absent: of all. */
export async function movable(
  parts: Parts,
  flights: Flights,
  needs: Tended,
  roots?: ReadonlySet<string>,
): Promise<Movable> {
  const now = parts.clock.now().toISOString();
  let { due } = needs;
  const isOpen = (id: string): boolean => parts.store.isOpen(id);
  const found: OpenTask[] = [];
  for (const one of parts.store.open()) {
    if (roots !== undefined && !roots.has(one.task.root)) continue;
    if (one.state === 'active' || flights.has(one.task.id) || one.task.to === HUMAN) continue;
    if (!isHosted(parts, one.task) || isPaused(parts, one.task) || needs.early.has(one.task.id)) continue;
    if (!mayMove(one.task, one.state, isOpen, now) && !needs.ready.has(one.task.id)) {
      if (one.task.waits?.until !== undefined) due = Math.min(due, Date.parse(one.task.waits.until));
      continue;
    }
    if (one.state === 'waiting' || (await dependenciesEnded(parts, one.task))) found.push(one);
  }
  found.sort(
    (a, b) => compareText(a.task.priority, b.task.priority) || compareText(a.task.created_at, b.task.created_at),
  );
  return { tasks: found.map((one) => one.task), due };
}

/** Whose work it is, or `nobody` as yet. */
export function nameOf(parts: Parts, task: Task): string {
  const taker = takerOf(parts, task);
  return 'agent' in taker ? taker.agent : 'nobody';
}

/** Whether one more can be started, as this process and its agents stand now. `free`: as of this pass. */
export function hasRoom(parts: Parts, flights: Flights, free: Room, task: Task): boolean {
  if (flights.size >= parts.config.limits.parallel) return false;
  // To bid is not to take: an agent that is busy can still say how busy it is.
  if (task.role === 'bid') return true;
  const taker = takerOf(parts, task);
  if ('offer' in taker)
    return task.waits !== undefined || (mayOffer(task, taker.offer, free.isFree) && free.takeBids(taker.offer.length));
  const name = nameOf(parts, task);
  const agent = parts.agents.all().get(name);
  // Whoever has a pattern speaks in its work, and must not keep that from its turn.
  const speaks = agent?.session === 'shared' && isLeaf(task, agent);
  if (speaks && !parts.store.takeTurn(sessionId(task, agent), task.id)) return false;
  const most = agent?.maxConcurrentTasks ?? Infinity;
  return most === Infinity || busyHere(flights, name) + free.elsewhere(name) < most;
}

/** How many tasks of this agent are in flight. */
export function busyHere(flights: Flights, agent: string): number {
  let busy = 0;
  for (const flight of flights.values()) if (flight.agent === agent) busy++;
  return busy;
}

function isHosted(parts: Parts, task: Task): boolean {
  if (parts.hosts === undefined || isNeed(task)) return true;
  const taker = takerOf(parts, task);
  // What is for nobody in particular is everybody's business: whoever comes first offers it, or says that nobody can do it.
  return !('agent' in taker) || parts.hosts.has(taker.agent);
}

function isPaused(parts: Parts, task: Task): boolean {
  const paused = parts.pauses?.all();
  return paused !== undefined && paused.size > 0 && paused.has(nameOf(parts, task));
}

/** A dependency that is not there yet may still be dropped into the folder, and one that another process just made is not known here: its task waits. */
async function dependenciesEnded(parts: Parts, task: Task): Promise<boolean> {
  for (const id of task.dependencies) {
    const placed = await parts.store.read(id);
    if (placed === undefined || !isEnded(placed.state)) return false;
  }
  return true;
}
