/**
 * Mesh coordination: agents offer to provide what others need. Each pass publishes the offers of
 * the agents hosted here, the fittest first, and reports the dependencies that can be awarded. All
 * of it is derived from records and notes, so a crash can change the winner but never make two.
 */
import type { AgentState } from '../../domain/agent/agent-state.js';
import { dependencyOf, type Dependency } from '../../domain/coordination/dependency.js';
import type { Note } from '../../domain/coordination/note.js';
import type { Placed, Task } from '../../domain/task/task.js';
import type { Bus } from '../../ports/bus.js';
import type { OpenTask } from '../../ports/store/tasks.js';
import { bestOffer, isBetter, offerDelayMs, type Offer } from '../../rules/coordination/mesh.js';
import type { NeedFacts } from '../../rules/coordination/needs.js';
import type { Candidate } from '../../rules/coordination/provider-fitness.js';
import { provideId, providerProgress } from '../../rules/coordination/providers.js';
import { foldStates, applyStateNote } from '../../rules/coordination/published-states.js';
import { candidatesFor } from './candidates.js';
import { capacity, type Capacity } from '../core/capacity.js';
import { needNote, publish } from './needs-notes.js';
import type { OutgoingNote } from '../core/notes.js';
import type { EngineContext, HeardNotes } from '../core/context.js';

interface Offers {
  moved: boolean;
  /** Dependencies that can be awarded before their offer window ends. */
  ready: string[];
  /** When the next offer of this process is due, in ms since the epoch; Infinity: none. */
  due: number;
}

const NONE: Offers = { moved: false, ready: [], due: Infinity };

/** `needs`: the open dependencies and help requests. */
export async function publishOffers(context: EngineContext, needs: readonly OpenTask[]): Promise<Offers> {
  if (context.config.coordination.mode !== 'mesh') return NONE;
  const requests = needs.flatMap((need) => openToOffers(need) ?? []);
  if (requests.length === 0) return NONE;
  await context.bus.refresh();
  const free = await capacity(context);
  const offered = requests.map(({ task, dependency }) => ({
    task,
    fit: candidatesFor(context, task, dependency, free),
  }));
  const notes: OutgoingNote[] = [];
  const ready: string[] = [];
  let due = Infinity;
  for (const { task, fit } of offered) {
    const own = offersHere(context, task, fit, free);
    notes.push(...own.notes);
    due = Math.min(due, own.due);
  }
  if (notes.length > 0) {
    await context.presence.join();
    await publish(context, notes);
  }
  for (const { task, fit } of offered) if (await isReady(context, task, fit, free)) ready.push(task.id);
  return { moved: notes.length > 0, ready, due };
}

/**
 * An agent that failed to provide is not asked again. The record is only read if there is an offer.
 */
async function isReady(
  context: EngineContext,
  task: Task,
  fit: readonly Candidate[],
  free: Capacity,
): Promise<boolean> {
  if (bestFor(context, task, fit, [], free) === undefined) return false;
  const before = await context.tasks.read(provideId(task, 1));
  return before === undefined || bestFor(context, task, fit, [before.task.to ?? ''], free) !== undefined;
}

/** Defined if the dependency is parked and waits only for offers. */
function openToOffers({ task, state }: OpenTask): { task: Task; dependency: Dependency } | undefined {
  if (state !== 'waiting' || task.waits?.tasks !== undefined || task.claimed_at === undefined) return undefined;
  const dependency = dependencyOf(task);
  return dependency?.type === 'data' || dependency?.type === 'expertise' ? { task, dependency } : undefined;
}

/** The offers of the agents hosted here: those due now, and when the next one is due. */
function offersHere(
  context: EngineContext,
  task: Task,
  fit: readonly Candidate[],
  free: Capacity,
): { notes: OutgoingNote[]; due: number } {
  const { offerMs } = context.config.coordination;
  const heard = heardFor(context, task.id);
  const live = liveOf(fit, free);
  const isHere = (agent: string): boolean => context.hosts === undefined || context.hosts.has(agent);
  const mine = fit.filter(({ agent }) => isHere(agent));
  // The delay gives other processes time to offer; without other candidates it is skipped.
  const isAlone = [...live].every(isHere);
  const now = context.clock.now().getTime();
  const notes: OutgoingNote[] = [];
  let due = Infinity;
  for (const candidate of mine) {
    if (heard.has(candidate.agent)) continue;
    const rivals = [...[...heard.values()].filter(({ agent }) => live.has(agent)), ...mine];
    const better = rivals.find((rival) => rival.agent !== candidate.agent && isBetter(task.id, rival, candidate));
    const at = Date.parse(task.claimed_at!) + (isAlone ? 0 : offerDelayMs(candidate.fitness, offerMs));
    if (better === undefined && at > now) due = Math.min(due, at);
    else notes.push(offerOf(task, candidate, better?.agent));
  }
  return { notes, due };
}

function offerOf(task: Task, { agent, fitness }: Candidate, better: string | undefined): OutgoingNote {
  return needNote(task, `offer-${agent}`, {
    type: 'dependency_offer',
    dependency: task.id,
    provider: agent,
    fitness,
    steppedBack: better,
  });
}

/** The agent that the offers select, or until when to wait for more of them. */
export function offeredFor(
  context: EngineContext,
  task: Task,
  fit: readonly Candidate[],
  children: ReadonlyMap<string, Placed | undefined>,
  free: Capacity,
): NeedFacts['offered'] {
  const progress = providerProgress(task, children);
  const best = bestFor(context, task, fit, 'tried' in progress ? progress.tried : [], free);
  if (best !== undefined) return { agent: best };
  const now = context.clock.now().getTime();
  const { over, limit } = windowOf(context, task);
  // Slow or late peers get time: a request must not fail because a machine is busy.
  if (now < limit) return { until: new Date(now < over ? over : limit).toISOString() };
  return { nobody: `none of the candidates (${fit.map(({ agent }) => agent).join(', ')}) made an offer` };
}

/** `over`: from then on the best offer so far wins. `limit`: without an offer the request fails. */
function windowOf(context: EngineContext, task: Task): { over: number; limit: number } {
  const { offerMs, helpMs } = context.config.coordination;
  const start = Date.parse(task.claimed_at ?? task.created_at);
  return { over: start + offerMs, limit: start + Math.max(helpMs, offerMs) };
}

function bestFor(
  context: EngineContext,
  task: Task,
  fit: readonly Candidate[],
  tried: readonly string[],
  free: Capacity,
): string | undefined {
  const offers = [...heardFor(context, task.id).values()];
  const isOver = context.clock.now().getTime() >= windowOf(context, task).over;
  return bestOffer({ id: task.id, offers, live: liveOf(fit, free), tried, isOver });
}

function liveOf(fit: readonly Candidate[], free: Capacity): Set<string> {
  return new Set(fit.flatMap(({ agent }) => (free.isHosted(agent) ? [agent] : [])));
}

/** Folds the existing notes at the first call and subscribes from then on. */
export function listenToNotes(bus: Bus): () => HeardNotes {
  let heard: HeardNotes | undefined;
  return () => (heard ??= listen(bus));
}

function listen(bus: Bus): HeardNotes {
  const heard: HeardNotes = { offers: new Map(), states: foldStates(bus.read('state')) };
  for (const note of bus.read('dependency')) hear(heard, note);
  bus.subscribe('dependency', (note) => hear(heard, note));
  bus.subscribe('state', (note) => void applyStateNote(heard.states, note));
  return heard;
}

function hear({ offers }: HeardNotes, { body }: Note): void {
  if (body.type === 'dependency_resolution') offers.delete(body.dependency);
  if (body.type !== 'dependency_offer') return;
  const byAgent = offers.get(body.dependency) ?? new Map<string, Offer>();
  offers.set(body.dependency, byAgent);
  // A cancelled dependency publishes no resolution, so the oldest entry is dropped.
  if (offers.size > MAX_DEPENDENCIES) offers.delete(offers.keys().next().value!);
  const offer = { agent: body.provider, fitness: body.fitness, steppedBack: body.steppedBack !== undefined };
  if (!byAgent.has(body.provider)) byAgent.set(body.provider, offer);
}

const MAX_DEPENDENCIES = 10_000;

function heardFor(context: EngineContext, id: string): ReadonlyMap<string, Offer> {
  return context.heardNotes().offers.get(id) ?? new Map<string, Offer>();
}

export function publishedStates(context: EngineContext): ReadonlyMap<string, AgentState> {
  return new Map([...context.heardNotes().states].map(([agent, { state }]) => [agent, state]));
}
