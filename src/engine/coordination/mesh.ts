/**
 * Mesh: peers offer themselves for what others need. A pass tells the offers of the agents that this process works for, each after a delay
 * that falls with its fitness, and finds out which dependencies have heard all there is to hear. Everything is derived from the records and
 * from what was told, so a process that dies, or hears late, changes who is first and never that there is one.
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
import { tell, telling } from './needs-notes.js';
import type { OutgoingNote } from '../core/notes.js';
import type { EngineContext, HeardNotes } from '../core/context.js';

interface Offers {
  /** Something was told. */
  moved: boolean;
  /** Dependencies that can be awarded now, before their window is over. */
  ready: string[];
  /** When the next offer of this process is due; Infinity: none is. */
  due: number;
}

const NONE: Offers = { moved: false, ready: [], due: Infinity };

/** `needs`: those that are open. */
export async function tendOffers(context: EngineContext, needs: readonly OpenTask[]): Promise<Offers> {
  if (context.config.coordination.mode !== 'mesh') return NONE;
  const asked = needs.flatMap((one) => asOffered(one) ?? []);
  if (asked.length === 0) return NONE;
  context.bus.refresh();
  const free = await capacity(context);
  const offered = asked.map(({ task, dependency }) => ({ task, fit: candidatesFor(context, task, dependency, free) }));
  const notes: OutgoingNote[] = [];
  const ready: string[] = [];
  let due = Infinity;
  for (const { task, fit } of offered) {
    const said = offersHere(context, task, fit, free);
    notes.push(...said.notes);
    due = Math.min(due, said.due);
  }
  if (notes.length > 0) {
    await context.presence.join();
    await tell(context, notes);
  }
  for (const { task, fit } of offered) if (await isReady(context, task, fit, free)) ready.push(task.id);
  return { moved: notes.length > 0, ready, due };
}

/** Whoever was asked before, in vain, is not asked again; that is only looked up where there is an offer at all. */
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

/** Parked for nothing but offers. */
function asOffered({ task, state }: OpenTask): { task: Task; dependency: Dependency } | undefined {
  if (state !== 'waiting' || task.waits?.tasks !== undefined || task.claimed_at === undefined) return undefined;
  const dependency = dependencyOf(task);
  return dependency?.type === 'data' || dependency?.type === 'expertise' ? { task, dependency } : undefined;
}

/** What the agents of this process say to a request, now or later. */
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
  // Nobody else could offer: there is nobody to leave time for.
  const isAlone = [...live].every(isHere);
  const now = context.clock.now().getTime();
  const notes: OutgoingNote[] = [];
  let due = Infinity;
  for (const one of mine) {
    if (heard.has(one.agent)) continue;
    const rivals = [...[...heard.values()].filter(({ agent }) => live.has(agent)), ...mine];
    const better = rivals.find((rival) => rival.agent !== one.agent && isBetter(task.id, rival, one));
    const at = Date.parse(task.claimed_at!) + (isAlone ? 0 : offerDelayMs(one.fitness, offerMs));
    if (better === undefined && at > now) due = Math.min(due, at);
    else notes.push(offerOf(task, one, better?.agent));
  }
  return { notes, due };
}

function offerOf(task: Task, { agent, fitness }: Candidate, better: string | undefined): OutgoingNote {
  return telling(task, `offer-${agent}`, {
    type: 'dependency_offer',
    dependency: task.id,
    provider: agent,
    fitness,
    ...(better === undefined ? {} : { steppedBack: better }),
  });
}

/** Whom the offers chose; undefined where nothing can be told, and the rule alone decides. */
export function offeredFor(
  context: EngineContext,
  task: Task,
  fit: readonly Candidate[],
  children: ReadonlyMap<string, Placed | undefined>,
  free: Capacity,
): NeedFacts['offered'] {
  const by = providerProgress(task, children);
  const best = bestFor(context, task, fit, 'tried' in by ? by.tried : [], free);
  if (best !== undefined) return { agent: best };
  const now = context.clock.now().getTime();
  const { over, limit } = windowOf(context, task);
  // A peer that is slow to speak, or not there yet, is waited for; a request does not fail because a machine is busy.
  if (now < limit) return { until: new Date(now < over ? over : limit).toISOString() };
  return { nobody: `none of those who could (${fit.map(({ agent }) => agent).join(', ')}) offered it` };
}

/** When the best offer so far wins, whoever is still to be heard; when nobody is waited for any more. */
function windowOf(context: EngineContext, task: Task): { over: number; limit: number } {
  const { offerMs, helpMs } = context.config.coordination;
  const begun = Date.parse(task.claimed_at ?? task.created_at);
  return { over: begun + offerMs, limit: begun + Math.max(helpMs, offerMs) };
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

/** Those of them that a live process works for. */
function liveOf(fit: readonly Candidate[], free: Capacity): Set<string> {
  return new Set(fit.flatMap(({ agent }) => (free.isHosted(agent) ? [agent] : [])));
}

/** Folds the notes so far once, at the first call, and listens from then on. */
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
  const known = offers.get(body.dependency) ?? new Map<string, Offer>();
  offers.set(body.dependency, known);
  // A cancelled dependency publishes no resolution; the oldest is dropped.
  if (offers.size > MAX_DEPENDENCIES) offers.delete(offers.keys().next().value!);
  const offer = { agent: body.provider, fitness: body.fitness, steppedBack: body.steppedBack !== undefined };
  if (!known.has(body.provider)) known.set(body.provider, offer);
}

const MAX_DEPENDENCIES = 10_000;

function heardFor(context: EngineContext, id: string): ReadonlyMap<string, Offer> {
  return context.heardNotes().offers.get(id) ?? new Map<string, Offer>();
}

/** The last published state of each agent. */
export function toldStates(context: EngineContext): ReadonlyMap<string, AgentState> {
  return new Map([...context.heardNotes().states].map(([agent, { state }]) => [agent, state]));
}
