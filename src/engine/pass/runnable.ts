/** Which open tasks can move now, and for which of them there is room. Nothing is changed here, except that `takesTurn` takes a turn. */
import { INTERVALS } from '../../domain/intervals.js';
import type { Agent } from '../../domain/agent/agent.js';
import { roleFacts } from '../../domain/task/role.js';
import { HUMAN, isEnded, type Task } from '../../domain/task/task.js';
import { isLeaf } from '../../rules/patterns/decide.js';
import { inOrder, queueKey, queue, type Place, type Queue, type Row } from '../../rules/scheduling/ready-queue.js';
import { mayOffer } from '../../rules/staffing/offer.js';
import { mayMove } from '../../rules/scheduling/ready.js';
import { sessionId } from '../../domain/session/session-id.js';
import type { Flight } from '../core/flight.js';
import type { Capacity } from '../core/capacity.js';
import { assigneeName, resolveAssignee } from '../core/assignee.js';
import { readyQueue, type ReadyQueue } from '../core/ready-queue.js';
import { isNeed } from '../coordination/needs.js';
import type { EngineContext } from '../core/context.js';
import type { SweptNeeds } from '../coordination/needs-sweep.js';

type Flights = ReadonlyMap<string, Flight>;

interface Movable {
  /** Most urgent first. */
  line: Queue;
  /** When the next of those that wait for a time can move; Infinity: none does. */
  due: number;
}

/** `roots`: only tasks of these trees; absent: of all. */
export async function movable(
  context: EngineContext,
  flights: Flights,
  needs: SweptNeeds,
  roots?: ReadonlySet<string>,
): Promise<Movable> {
  const now = context.clock.now().toISOString();
  let { due } = needs;
  const isOpen = (id: string): boolean => context.tasks.isOpen(id);
  const known = context.queue ?? readyQueue(context.tasks);
  const held = await context.unreadable.look();
  const ready: Place[] = [];
  for (const { task, state } of known.underWay()) {
    if (roots !== undefined && !roots.has(task.root)) continue;
    if (state === 'active' || flights.has(task.id) || task.to === HUMAN) continue;
    if (!isHosted(context, task) || isPaused(context, task) || needs.early.has(task.id)) continue;
    if (!mayMove(task, state, isOpen, now) && !needs.ready.has(task.id)) {
      if (task.waits?.until !== undefined) due = Math.min(due, Date.parse(task.waits.until));
      continue;
    }
    if (held?.has(task.id)) {
      due = Math.min(due, Date.parse(now) + INTERVALS.unreadableCheckMs);
      continue;
    }
    if (state === 'waiting' || (await dependenciesEnded(context, known, task)))
      ready.push({ task, since: known.since(task.id) });
  }
  const found = ready.filter(({ task }) => known.find(task.id) === undefined); // some stand in line now, and come with that
  const rows: Row[] = [{ places: found.sort(inOrder), alike: false }];
  // All rows are taken before anything is awaited: there may be other rows after that.
  for (const places of [...inLine(known, roots)]) {
    const first = places[0]?.task;
    if (first === undefined || !isHosted(context, first) || isPaused(context, first)) continue;
    rows.push({ places: await inTurn(context, known, places), alike: true });
  }
  return { line: queue(rows, (id) => flights.has(id)), due };
}

function* inLine(known: ReadyQueue, roots: ReadonlySet<string> | undefined): Iterable<readonly Place[]> {
  if (roots === undefined) return yield* known.all();
  for (const root of roots) {
    const mine = known.find(root);
    if (mine !== undefined) yield [mine];
  }
}

/** Of those who share a conversation only the one whose turn it is can begin, wherever it stands. */
async function inTurn(context: EngineContext, known: ReadyQueue, places: readonly Place[]): Promise<readonly Place[]> {
  const first = places[0]!.task;
  const agent = context.agents.all().get(assigneeName(context, first));
  if (agent?.session !== 'shared' || !isLeaf(first, agent)) return places;
  const holder = known.find((await context.locks.holder(sessionId(first, agent))) ?? '');
  return holder !== undefined && queueKey(holder.task) === queueKey(first) ? [holder] : places;
}

/**
 * Whether one more can be started, as this process and its agents stand now. `free`: as of this pass. Synchronous, so
 * that the caller can enter the flight before anything else is decided.
 */
export function hasRoom(context: EngineContext, flights: Flights, free: Capacity, task: Task): boolean {
  if (flights.size >= context.config.limits.parallel) return false;
  // To bid is not to take: an agent that is busy can still say how busy it is.
  if (!roleFacts(task.role).takesCapacity) return true;
  const taker = resolveAssignee(context, task);
  if ('offer' in taker)
    return task.waits !== undefined || (mayOffer(task, taker.offer, free.isFree) && free.takeBids(taker.offer.length));
  const name = assigneeName(context, task);
  const agent = context.agents.all().get(name);
  const most = agent?.maxConcurrentTasks ?? Infinity;
  return most === Infinity || busyHere(flights, name) + free.elsewhere(name) < most;
}

/** Takes the turn in the shared conversation of its agent. True if the task has it now, or needs none. */
export async function takesTurn(context: EngineContext, task: Task, agent: Agent | undefined): Promise<boolean> {
  // An agent with a pattern speaks in its stages, and must not keep the turn from them.
  if (agent?.session !== 'shared' || !isLeaf(task, agent)) return true;
  return context.locks.acquire(sessionId(task, agent), task.id);
}

/** How many tasks of this agent are in flight. */
export function busyHere(flights: Flights, agent: string): number {
  let busy = 0;
  for (const flight of flights.values()) if (flight.agent === agent) busy++;
  return busy;
}

function isHosted(context: EngineContext, task: Task): boolean {
  if (context.hosts === undefined || isNeed(task)) return true;
  const taker = resolveAssignee(context, task);
  // What is for nobody in particular is everybody's business: whoever comes first offers it, or says that nobody can do it.
  return !('agent' in taker) || context.hosts.has(taker.agent);
}

function isPaused(context: EngineContext, task: Task): boolean {
  const paused = context.pauses.all();
  return paused !== undefined && paused.size > 0 && paused.has(assigneeName(context, task));
}

/** A dependency that is not there yet may still be dropped into the folder, and one that another process just made is not known here: its task waits. */
async function dependenciesEnded(context: EngineContext, known: ReadyQueue, task: Task): Promise<boolean> {
  for (const id of task.dependencies) {
    if (known.hasEnded(id)) continue;
    const placed = await context.tasks.read(id);
    if (placed === undefined || !isEnded(placed.state)) return false;
    known.ended(id);
  }
  return true;
}
