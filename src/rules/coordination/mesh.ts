/**
 * Mesh: agents that fit offer themselves, the fittest first, and step back when they see a better
 * offer. The best offer wins once every candidate has answered or the window is over. The winner
 * follows from the published notes alone, so every process finds the same one.
 */
import { compareText } from '../../domain/order.js';
import { lot } from './provider-fitness.js';

export interface Offer {
  agent: string;
  fitness: number;
  /** Withdrawn for a better offer. The agent can still be asked if the better one fails. */
  steppedBack: boolean;
}

/** The delay before an agent offers itself, so that the fittest comes first. */
export function offerDelayMs(fitness: number, offerMs: number): number {
  return Math.round(offerMs * (1 - Math.min(100, Math.max(0, fitness)) / 100));
}

/** Whether `a` is better than `b`; the lot breaks ties. */
export function isBetter(
  id: string,
  a: { agent: string; fitness: number },
  b: { agent: string; fitness: number },
): boolean {
  return (b.fitness - a.fitness || compareText(lot(id, a.agent), lot(id, b.agent))) < 0;
}

interface OffersInput {
  id: string;
  offers: readonly Offer[];
  /** Candidates that a live process hosts. */
  live: ReadonlySet<string>;
  tried: readonly string[];
  isOver: boolean;
}

/** Undefined while offers may still arrive, or if no live agent has made one. */
export function bestOffer({ id, offers, live, tried, isOver }: OffersInput): string | undefined {
  const answered = new Set(offers.map((offer) => offer.agent));
  const eligible = offers.filter(({ agent }) => live.has(agent) && !tried.includes(agent));
  const best = eligible.reduce<Offer | undefined>(
    (top, offer) => (top === undefined || isBetter(id, offer, top) ? offer : top),
    undefined,
  );
  const isComplete = [...live].every((agent) => answered.has(agent) || tried.includes(agent));
  return best !== undefined && (isComplete || isOver) ? best.agent : undefined;
}
