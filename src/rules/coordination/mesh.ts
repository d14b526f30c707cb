/**
 * Mesh: who is fit offers itself, the fitter the sooner; who sees a better offer steps back. The best offer wins once everybody who could
 * has said something, or the window is over. All of it follows from what was told, so whoever looks comes to the same winner.
 */
import { compareText } from '../../domain/order.js';
import { lot } from './provider-fitness.js';

export interface Offer {
  agent: string;
  fitness: number;
  /** It left the field to another; it can still be asked when that one fails. */
  steppedBack: boolean;
}

/** How long an agent waits before it offers itself, so that the fittest is heard first. */
export function offerDelayMs(fitness: number, offerMs: number): number {
  return Math.round(offerMs * (1 - Math.min(100, Math.max(0, fitness)) / 100));
}

/** Whether the first is the better one; of two equals the lot says it. */
export function isBetter(
  id: string,
  a: { agent: string; fitness: number },
  b: { agent: string; fitness: number },
): boolean {
  return (b.fitness - a.fitness || compareText(lot(id, a.agent), lot(id, b.agent))) < 0;
}

interface OffersGiven {
  id: string;
  offers: readonly Offer[];
  /** Agents that could, and that a live process works for. */
  live: ReadonlySet<string>;
  tried: readonly string[];
  isOver: boolean;
}

/** Undefined: it is too early to say, or nobody who lives has offered. */
export function bestOffer({ id, offers, live, tried, isOver }: OffersGiven): string | undefined {
  const heard = new Set(offers.map((offer) => offer.agent));
  const eligible = offers.filter(({ agent }) => live.has(agent) && !tried.includes(agent));
  const best = eligible.reduce<Offer | undefined>(
    (top, offer) => (top === undefined || isBetter(id, offer, top) ? offer : top),
    undefined,
  );
  const allHeard = [...live].every((agent) => heard.has(agent) || tried.includes(agent));
  return best !== undefined && (allHeard || isOver) ? best.agent : undefined;
}
