/**
 * Looks after open dependencies and calls for help, once a pass: which of them can go on for a reason that no record shows (an offer came, an
 * agent is free now), which are too early because their asker is not waiting yet, and which were given to somebody whose process is gone.
 */
import { roleFacts } from '../../domain/task/role.js';
import { dependencyOf } from '../../domain/coordination/dependency.js';
import { helpOf } from '../../domain/coordination/help.js';
import { problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import type { OpenTask } from '../../ports/store.js';
import { provideId } from '../../rules/coordination/providers.js';
import { resourceKey } from '../../rules/coordination/wait-node.js';
import { costsAtRest } from '../tasks/costs-at-rest.js';
import { candidatesFor } from './candidates.js';
import { fail } from '../tasks/settle.js';
import { room, type Room } from '../core/capacity.js';
import { underWay } from '../core/ready-queue.js';
import { tendOffers } from './mesh.js';
import { bystanders, volunteersFor, type Bystanders } from './needs-facts.js';
import { isNeed } from './needs.js';
import type { Parts } from '../core/context.js';

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

export async function tendNeeds(parts: Parts): Promise<Tended> {
  const needs: OpenTask[] = [];
  const given: OpenTask[] = [];
  for (const one of underWay(parts)) {
    if (isNeed(one.task)) needs.push(one);
    else if (isGiven(one.task)) given.push(one);
  }
  if (needs.length === 0) return NOTHING;
  const moved = await takeBack(parts, needs, given);
  const offers = await tendOffers(parts, needs);
  const around = bystanders(parts, await room(parts));
  const free = needs.filter(
    ({ task, state }) => state === 'waiting' && (somebodyCame(parts, task, around) || gaveBack(parts, task)),
  );
  return {
    moved: moved || offers.moved,
    ready: new Set([...offers.ready, ...free.map(({ task }) => task.id)]),
    early: tooEarly(parts, needs),
    due: offers.due,
  };
}

function isGiven({ role }: Task): boolean {
  const { isProvision, choosesProvider } = roleFacts(role);
  return isProvision || choosesProvider;
}

/** Nobody is asked before the asker is really blocked: until then more may be asked for, and all of it goes out together. */
function tooEarly(parts: Parts, needs: readonly OpenTask[]): ReadonlySet<string> {
  const fresh = needs.filter(({ state }) => state === 'pending');
  if (fresh.length === 0) return NOTHING.early;
  const askers = new Set(fresh.map(({ task }) => task.parent));
  const busy = new Set<string>();
  for (const { task, state } of parts.store.open()) if (askers.has(task.id) && state !== 'waiting') busy.add(task.id);
  return new Set(fresh.flatMap(({ task }) => (task.parent !== undefined && busy.has(task.parent) ? task.id : [])));
}

/** Parked because nobody was free, and now somebody is. */
function somebodyCame(parts: Parts, task: Task, around: Bystanders): boolean {
  const help = task.waits?.tasks === undefined ? helpOf(task) : undefined;
  return help !== undefined && volunteersFor(parts, task, help, around).length > 0;
}

/** Parked because somebody held a resource, who does not hold it now. */
function gaveBack(parts: Parts, task: Task): boolean {
  const holder = task.waits?.tasks?.[0];
  const resource = holder === undefined ? undefined : dependencyOf(task)?.resource;
  return resource !== undefined && parts.waits !== undefined && parts.waits.holderOf(resourceKey(resource)) !== holder;
}

/** What was given to an agent that no live process works for any more goes to another, if there is one. */
async function takeBack(parts: Parts, needs: readonly OpenTask[], given: readonly OpenTask[]): Promise<boolean> {
  if (parts.hosts === undefined || given.length === 0) return false;
  const free = await room(parts);
  const around = bystanders(parts, free);
  let moved = false;
  const byId = new Map(needs.map(({ task }) => [task.id, task]));
  for (const { task, state } of given) {
    if (state === 'active' || task.to === undefined || free.isHosted(task.to)) continue;
    const need = task.parent === undefined ? undefined : byId.get(task.parent);
    if (need === undefined || !canGoElsewhere(parts, need, task, free, around)) continue;
    const claim = await parts.store.claim(task.id, task.to);
    if (claim === undefined) continue;
    await fail(parts, claim, claim.task, gone(task.to), await costsAtRest(parts, claim.task));
    moved = true;
  }
  return moved;
}

/** Where the coordinator is gone the rule decides; of those who provide, only the first is replaced, and no reviewer ever. */
function canGoElsewhere(parts: Parts, need: Task, given: Task, free: Room, around: Bystanders): boolean {
  if (roleFacts(given.role).choosesProvider) return true;
  if (given.id !== provideId(need, 1)) return false;
  const dependency = dependencyOf(need);
  const help = helpOf(need);
  const others: { agent: string }[] =
    help !== undefined
      ? volunteersFor(parts, need, help, around)
      : dependency !== undefined && dependency.reviewer === undefined
        ? candidatesFor(parts, need, dependency, free)
        : [];
  return others.some(({ agent }) => agent !== given.to && free.isHosted(agent));
}

function gone(agent: string): ReturnType<typeof problem> {
  return problem('taker_lost', `no process works for ${agent} any more; somebody else is asked`);
}
