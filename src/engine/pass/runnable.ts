/** Selects the open tasks that can run now and checks capacity and locks for each of them. */
import { INTERVALS } from '../../domain/intervals.js';
import type { Agent } from '../../domain/agent/agent.js';
import { roleFacts } from '../../domain/task/role.js';
import { isSuspect } from '../../domain/task/lost-takers.js';
import { isEnded, isForHuman, type Task } from '../../domain/task/task.js';
import { isLeaf } from '../../rules/patterns/decide.js';
import { inOrder, queue, queueKey, type Place, type Queue, type Row } from '../../rules/scheduling/ready-queue.js';
import { mayOffer } from '../../rules/staffing/offer.js';
import { resolveModels } from '../../rules/scheduling/models.js';
import { mayMove } from '../../rules/scheduling/ready.js';
import { ruleText, scheduledOf } from '../../domain/schedule.js';
import { print53, scheduleLock } from '../../domain/task/id.js';
import { followUpOf } from '../../domain/task/follow-up.js';
import { sessionId } from '../../domain/session/session-id.js';
import type { Capacity } from '../core/capacity.js';
import { assigneeName, resolveAssignee } from '../core/assignee.js';
import type { ReadyQueue } from '../core/ready-queue.js';
import { isNeed } from '../coordination/needs.js';
import type { EngineContext } from '../core/context.js';
import type { SweptNeeds } from '../coordination/needs-sweep.js';
import type { Flights } from './flights.js';

interface Runnable {
  /** Most urgent first. */
  queue: Queue;
  /** When the next task that waits for a time can run; Infinity: none does. */
  due: number;
}

/** `roots`: only tasks of these trees; absent: all. */
export async function runnable(
  context: EngineContext,
  flights: Flights,
  needs: SweptNeeds,
  roots?: ReadonlySet<string>,
): Promise<Runnable> {
  const now = context.clock.now().toISOString();
  let { due } = needs;
  const isOpen = (id: string): boolean => context.tasks.isOpen(id);
  const readyTasks = context.queue;
  const unreadable = await context.unreadable.look();
  const ready: Place[] = [];
  const pausedTasks = context.pauses.tasks();
  for (const { task, state } of readyTasks.underWay()) {
    if ((roots !== undefined && !roots.has(task.root)) || pausedTasks.has(task.root)) continue;
    if (state === 'active' || flights.all.has(task.id) || isForHuman(task)) continue;
    if (!isHosted(context, task) || isPaused(context, task) || needs.early.has(task.id)) continue;
    if (!mayMove(task, state, isOpen, now) && !needs.ready.has(task.id) && !isReplanned(task)) {
      if (task.waits?.until !== undefined) due = Math.min(due, Date.parse(task.waits.until));
      continue;
    }
    if (unreadable.has(task.id)) {
      due = Math.min(due, Date.parse(now) + INTERVALS.unreadableCheckMs);
      continue;
    }
    if (state === 'waiting' || (await dependenciesEnded(context, readyTasks, task)))
      ready.push({ task, since: readyTasks.since(task.id) });
  }
  // Some became queued while dependencies were read; they come with their row.
  const others = ready.filter(({ task }) => readyTasks.find(task.id) === undefined);
  const rows: Row[] = [{ places: others.sort(inOrder), alike: false }];
  // The rows are copied because they may change during an await.
  for (const row of [...readyRows(readyTasks, roots)]) {
    const places = pausedTasks.size === 0 ? row : row.filter(({ task }) => !pausedTasks.has(task.root));
    const first = places[0]?.task;
    if (first === undefined || !isHosted(context, first) || isPaused(context, first)) continue;
    // A task that somebody waits for fails instead, so that they see why.
    const retryAt = roots === undefined ? endOfOutage(context, first) : undefined;
    if (retryAt !== undefined && retryAt > Date.parse(now)) {
      due = Math.min(due, retryAt);
      continue;
    }
    const isRetry = retryAt !== undefined;
    if (isRetry && flights.ofAgent(assigneeName(context, first)) > 0) continue;
    const holder = await lockHolder(context, readyTasks, first);
    // Tasks of `roots` may wait for a holder that is not one of them.
    if (holder !== undefined) rows.push({ places: [holder], alike: true });
    else if (isRetry) rows.push({ places: places.slice(0, 1), alike: true });
    else rows.push({ places: ownShare(context, places), alike: true, only: roots });
  }
  return { queue: queue(rows, (id) => flights.all.has(id)), due };
}

/** Above this number of trees, whole rows cost less than one row for each tree. */
const FEW_TREES = 64;

function* readyRows(readyTasks: ReadyQueue, roots: ReadonlySet<string> | undefined): Iterable<readonly Place[]> {
  if (roots === undefined || roots.size > FEW_TREES) return yield* readyTasks.all();
  for (const root of roots) {
    const place = readyTasks.find(root);
    if (place !== undefined) yield [place];
  }
}

/** How many of its own tasks a process puts first, for each task that it can run at once. */
const SHARE = 2;
/** How far a process looks for its own tasks: this many times its share of the queue. */
const SEARCH = 2;

/**
 * Processes that all begin with the oldest task lose most races for it. At the front of a long
 * queue each begins with its own tasks, which are chosen by a hash of their ids. The other tasks
 * come next, so that no task is left behind if a process does not take its own.
 */
function ownShare({ presence, config }: EngineContext, places: readonly Place[]): readonly Place[] {
  const share = SHARE * config.limits.parallel;
  if (places.length <= 2 * share) return places;
  const { rank, of } = presence.rank();
  if (of === 1) return places;
  const own: Place[] = [];
  const others: Place[] = [];
  let at = 0;
  for (const end = Math.min(places.length, SEARCH * share * of); at < end && own.length < share; at++) {
    const place = places[at]!;
    (print53(place.task.id) % of === rank ? own : others).push(place);
  }
  return [...own, ...others, ...places.slice(at)];
}

/** Of the tasks that share a conversation, only the holder of its lock can start. */
async function lockHolder(context: EngineContext, readyTasks: ReadyQueue, first: Task): Promise<Place | undefined> {
  const agent = context.agents.all().get(assigneeName(context, first));
  if (agent?.session !== 'shared' || !isLeaf(first, agent)) return undefined;
  const holder = readyTasks.find((await context.locks.holder(sessionId(first, agent))) ?? '');
  return holder !== undefined && queueKey(holder.task) === queueKey(first) ? holder : undefined;
}

/**
 * Whether this process and the agent have capacity for one more task. Synchronous, so that the
 * caller can enter the flight before anything else is decided.
 */
export function canStart(context: EngineContext, flights: Flights, capacity: Capacity, task: Task): boolean {
  if (flights.all.size >= context.config.limits.parallel || mustWaitAlone(flights, task)) return false;
  // Bids need no capacity: a busy agent can still say how busy it is.
  if (!roleFacts(task.role).takesCapacity) return true;
  const assignee = resolveAssignee(context, task);
  if ('offer' in assignee) {
    const { offer } = assignee;
    return task.waits !== undefined || (mayOffer(task, offer, capacity.isFree) && capacity.takeBids(offer.length));
  }
  const name = assigneeName(context, task);
  const limit = context.agents.all().get(name)?.maxConcurrentTasks ?? Infinity;
  return limit === Infinity || flights.ofAgent(name) + capacity.elsewhere(name) < limit;
}

/** A suspect starts when nothing else is in flight, and nothing else starts meanwhile. */
export function mustWaitAlone(flights: Flights, task: Task): boolean {
  if (flights.all.size === 0) return false;
  if (isSuspect(task)) return true;
  for (const flight of flights.all.values()) if (flight.isAlone) return true;
  return false;
}

/**
 * Locks the conversation of the task if other tasks may speak in it, and its schedule, so that no
 * two runs overlap. True if it has the locks or needs none.
 */
export async function lockShared(context: EngineContext, task: Task, agent: Agent | undefined): Promise<boolean> {
  const scheduled = scheduledOf(task);
  if (scheduled !== undefined && !(await context.locks.acquire(scheduleLock(scheduled.by), task.id))) return false;
  // An agent with a pattern speaks in its stages, so its own task must not hold the lock.
  if (agent === undefined || !isLeaf(task, agent) || !takesTurns(task, agent)) return true;
  return context.locks.acquire(sessionId(task, agent), task.id);
}

/** Whether other tasks may speak in the same conversation. */
export function takesTurns(task: Task, agent: Agent): boolean {
  return agent.session === 'shared' || followUpOf(task) !== undefined || (task.retries ?? 0) > 0;
}

/** A person changed the schedule, so the task waits for a time that is no longer the next one. */
function isReplanned({ schedule }: Task): boolean {
  return schedule?.planned !== undefined && schedule.planned !== ruleText(schedule);
}

export function isHosted(context: EngineContext, task: Task): boolean {
  if (isNeed(task) || roleFacts(task.role).isSchedule) return true;
  const assignee = resolveAssignee(context, task);
  // Every process may offer a task without an assignee, or report that no agent fits.
  if (!('agent' in assignee)) return true;
  return context.isHere(assignee.agent, task) && (context.hosts === undefined || context.hosts.has(assignee.agent));
}

export function isPaused(context: EngineContext, task: Task): boolean {
  if (context.pauses.tasks().has(task.root)) return true;
  const paused = context.pauses.all();
  return paused.size > 0 && paused.has(assigneeName(context, task));
}

/** When a task may try the models of its agent again. Undefined: they are not known to be out. */
function endOfOutage(context: EngineContext, task: Task): number | undefined {
  if (context.isSequential) return undefined;
  const agent = context.agents.all().get(assigneeName(context, task));
  const resolved = agent && resolveModels(agent, context.config);
  return resolved === undefined || 'code' in resolved ? undefined : context.outages.until(resolved.models);
}

/** A task waits for a missing dependency: a person or another process may still create it. */
async function dependenciesEnded(context: EngineContext, readyTasks: ReadyQueue, task: Task): Promise<boolean> {
  for (const id of task.dependencies) {
    if (readyTasks.hasEnded(id)) continue;
    const placed = await context.tasks.read(id);
    if (placed === undefined || !isEnded(placed.state)) return false;
    readyTasks.ended(id);
  }
  return true;
}
