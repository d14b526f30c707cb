/**
 * Looks after open dependencies and calls for help, once a pass: which of them can go on for a reason that no record shows (an offer came, an
 * agent is free now), which are too early because their asker is not waiting yet, and which were given to somebody whose process is gone.
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
import { tendOffers } from './mesh.js';
import { bystanders, volunteersFor, type Bystanders } from './needs-facts.js';
import { isNeed } from './needs.js';
import type { EngineContext } from '../core/context.js';

export interface Tended {
  moved: boolean;
  /** These can go on, whatever they wait for. */
  ready: ReadonlySet<string>;
  /** These must not be taken up yet. */
  early: ReadonlySet<string>;
  /** When an offer of this process is due; Infinity: none is. */
  due: number;
}

const NOTHING: Tended = { moved: false, ready: new Set(), early: new Set(), due: Infinity };

export async function tendNeeds(context: EngineContext): Promise<Tended> {
  const needs: OpenTask[] = [];
  const given: OpenTask[] = [];
  for (const one of underWay(context)) {
    if (isNeed(one.task)) needs.push(one);
    else if (isGiven(one.task)) given.push(one);
  }
  if (needs.length === 0) return NOTHING;
  const moved = await takeBack(context, needs, given);
  const offers = await tendOffers(context, needs);
  const around = bystanders(context, await capacity(context));
  const free = needs.filter(
    ({ task, state }) => state === 'waiting' && (somebodyCame(context, task, around) || gaveBack(context, task)),
  );
  return {
    moved: moved || offers.moved,
    ready: new Set([...offers.ready, ...free.map(({ task }) => task.id)]),
    early: tooEarly(context, needs),
    due: offers.due,
  };
}

function isGiven({ role }: Task): boolean {
  const { isProvision, choosesProvider } = roleFacts(role);
  return isProvision || choosesProvider;
}

/** Nobody is asked before the asker is really blocked: until then more may be asked for, and all of it goes out together. */
function tooEarly(context: EngineContext, needs: readonly OpenTask[]): ReadonlySet<string> {
  const fresh = needs.filter(({ state }) => state === 'pending');
  if (fresh.length === 0) return NOTHING.early;
  const askers = new Set(fresh.map(({ task }) => task.parent));
  const busy = new Set<string>();
  for (const { task, state } of context.tasks.open()) if (askers.has(task.id) && state !== 'waiting') busy.add(task.id);
  return new Set(fresh.flatMap(({ task }) => (task.parent !== undefined && busy.has(task.parent) ? task.id : [])));
}

/** Parked because nobody was free, and now somebody is. */
function somebodyCame(context: EngineContext, task: Task, around: Bystanders): boolean {
  const help = task.waits?.tasks === undefined ? helpOf(task) : undefined;
  return help !== undefined && volunteersFor(context, task, help, around).length > 0;
}

/** Parked because somebody held a resource, who does not hold it now. */
function gaveBack(context: EngineContext, task: Task): boolean {
  const holder = task.waits?.tasks?.[0];
  const resource = holder === undefined ? undefined : dependencyOf(task)?.resource;
  return resource !== undefined && context.waits.holderOf(resourceKey(resource)) !== holder;
}

/** What was given to an agent that no live process works for any more goes to another, if there is one. */
async function takeBack(
  context: EngineContext,
  needs: readonly OpenTask[],
  given: readonly OpenTask[],
): Promise<boolean> {
  if (context.hosts === undefined || given.length === 0) return false;
  const free = await capacity(context);
  const around = bystanders(context, free);
  let moved = false;
  const byId = new Map(needs.map(({ task }) => [task.id, task]));
  for (const { task, state } of given) {
    if (state === 'active' || task.to === undefined || free.isHosted(task.to)) continue;
    const need = task.parent === undefined ? undefined : byId.get(task.parent);
    if (need === undefined || !canGoElsewhere(context, need, task, free, around)) continue;
    const claim = await context.tasks.claim(task.id, task.to);
    if (claim === undefined) continue;
    await fail(context, claim, claim.task, gone(task.to), await costsAtRest(context, claim.task));
    moved = true;
  }
  return moved;
}

/** Where the coordinator is gone the rule decides; of those who provide, only the first is replaced, and no reviewer ever. */
function canGoElsewhere(context: EngineContext, need: Task, given: Task, free: Capacity, around: Bystanders): boolean {
  if (roleFacts(given.role).choosesProvider) return true;
  if (given.id !== provideId(need, 1)) return false;
  const dependency = dependencyOf(need);
  const help = helpOf(need);
  const others: { agent: string }[] =
    help !== undefined
      ? volunteersFor(context, need, help, around)
      : dependency !== undefined && dependency.reviewer === undefined
        ? candidatesFor(context, need, dependency, free)
        : [];
  return others.some(({ agent }) => agent !== given.to && free.isHosted(agent));
}

function gone(agent: string): ReturnType<typeof problem> {
  return problem('taker_lost', `no process works for ${agent} any more; somebody else is asked`);
}
