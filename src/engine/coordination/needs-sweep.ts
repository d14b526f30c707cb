/**
 * Sweeps the open dependencies and help requests once per pass. Finds those that can continue for a
 * reason no record shows (a new offer, a free agent), those whose asker is still running, and those
 * whose provider lost its process.
 */
import { roleFacts } from '../../domain/task/role.js';
import { dependencyOf } from '../../domain/coordination/dependency.js';
import { helpOf } from '../../domain/coordination/help.js';
import { problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import { provideId } from '../../rules/coordination/providers.js';
import { resourceKey } from '../../rules/coordination/wait-node.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { candidatesFor } from './candidates.js';
import { fail } from '../tasks/settle.js';
import { capacity, type Capacity } from '../core/capacity.js';
import { underWay } from '../core/ready-queue.js';
import { publishOffers } from './mesh.js';
import { bystanders, volunteersFor, type Bystanders } from './needs-facts.js';
import { isNeed } from './needs.js';
import type { EngineContext } from '../core/context.js';

export interface SweptNeeds {
  moved: boolean;
  /** Can continue, although their record says that they wait. */
  ready: ReadonlySet<string>;
  /** Must not start yet. */
  early: ReadonlySet<string>;
  /** When the next offer of this process is due, in ms since the epoch; Infinity: none. */
  due: number;
}

const NOTHING: SweptNeeds = { moved: false, ready: new Set(), early: new Set(), due: Infinity };

export async function sweepNeeds(context: EngineContext): Promise<SweptNeeds> {
  const needs: OpenTask[] = [];
  const assigned: OpenTask[] = [];
  for (const open of underWay(context)) {
    if (isNeed(open.task)) needs.push(open);
    else if (isAssigned(open.task)) assigned.push(open);
  }
  if (needs.length === 0) return NOTHING;
  const moved = await reassign(context, needs, assigned);
  const offers = await publishOffers(context, needs);
  const around = bystanders(context, await capacity(context));
  const unblocked = needs.filter(
    ({ task, state }) => state === 'waiting' && (hasVolunteer(context, task, around) || isReleased(context, task)),
  );
  return {
    moved: moved || offers.moved,
    ready: new Set([...offers.ready, ...unblocked.map(({ task }) => task.id)]),
    early: earlyNeeds(context, needs),
    due: offers.due,
  };
}

/** True for a task that provides something or chooses the provider. */
function isAssigned({ role }: Task): boolean {
  const { isProvision, choosesProvider } = roleFacts(role);
  return isProvision || choosesProvider;
}

/** A need waits until its asker parks, so that all needs of a turn go out together. */
function earlyNeeds(context: EngineContext, needs: readonly OpenTask[]): ReadonlySet<string> {
  const fresh = needs.filter(({ state }) => state === 'pending');
  if (fresh.length === 0) return NOTHING.early;
  const askers = new Set(fresh.map(({ task }) => task.parent));
  const busy = new Set<string>();
  for (const { task, state } of context.tasks.open()) if (askers.has(task.id) && state !== 'waiting') busy.add(task.id);
  return new Set(fresh.flatMap(({ task }) => (task.parent !== undefined && busy.has(task.parent) ? task.id : [])));
}

/** True if a parked help request has a volunteer now. */
function hasVolunteer(context: EngineContext, task: Task, around: Bystanders): boolean {
  const help = task.waits?.tasks === undefined ? helpOf(task) : undefined;
  return help !== undefined && volunteersFor(context, task, help, around).length > 0;
}

/** True if the task that held the resource no longer holds it. */
function isReleased(context: EngineContext, task: Task): boolean {
  const holder = task.waits?.tasks?.[0];
  const resource = holder === undefined ? undefined : dependencyOf(task)?.resource;
  return resource !== undefined && context.waits.holderOf(resourceKey(resource)) !== holder;
}

/** Fails tasks whose agent lost its process if another agent can take over. */
async function reassign(
  context: EngineContext,
  needs: readonly OpenTask[],
  assigned: readonly OpenTask[],
): Promise<boolean> {
  if (context.hosts === undefined || assigned.length === 0) return false;
  const free = await capacity(context);
  const around = bystanders(context, free);
  let moved = false;
  const byId = new Map(needs.map(({ task }) => [task.id, task]));
  for (const { task, state } of assigned) {
    if (state === 'active' || task.to === undefined || free.isHosted(task.to)) continue;
    const need = task.parent === undefined ? undefined : byId.get(task.parent);
    if (need === undefined || !canGoElsewhere(context, need, task, free, around)) continue;
    const claim = await context.tasks.claim(task.id, task.to);
    if (claim === undefined) continue;
    await fail(context, claim, claim.task, hostLost(task.to), await costsAtRest(context, claim.task));
    moved = true;
  }
  return moved;
}

/** The rule replaces a lost coordinator. Only the first provider is replaced, a reviewer never. */
function canGoElsewhere(
  context: EngineContext,
  need: Task,
  assigned: Task,
  free: Capacity,
  around: Bystanders,
): boolean {
  if (roleFacts(assigned.role).choosesProvider) return true;
  if (assigned.id !== provideId(need, 1)) return false;
  const dependency = dependencyOf(need);
  const help = helpOf(need);
  const others: { agent: string }[] =
    help !== undefined
      ? volunteersFor(context, need, help, around)
      : dependency !== undefined && dependency.reviewer === undefined
        ? candidatesFor(context, need, dependency, free)
        : [];
  return others.some(({ agent }) => agent !== assigned.to && free.isHosted(agent));
}

function hostLost(agent: string): ReturnType<typeof problem> {
  return problem('taker_lost', `no process works for ${agent} any more; another agent is asked`);
}
