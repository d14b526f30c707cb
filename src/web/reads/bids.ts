/** Offers of tasks: who bid, how each bid was weighed, and who got the task. */
import { defined } from '../../domain/defined.js';
import type { Event } from '../../domain/event.js';
import type { BidRow, Bids } from '../base/contract.js';
import type { Moment } from './moment.js';

const OFFERS_SHOWN = 100;

/** From the events of awards, which have every score. Newest first. */
export async function bidsOf(moment: Moment): Promise<Bids> {
  const awarded = moment.log.events((name) => name === 'task.awarded').filter(hasScores);
  const titles = new Map((await moment.tasks('')).map(({ id, title }) => [id, title]));
  return {
    offers: awarded
      .slice(-OFFERS_SHOWN)
      .reverse()
      .map((event) => {
        const id = event.task ?? '';
        const bids = (event['scores'] as Record<string, unknown>[]).map(bidOf);
        return defined({ task: { id, title: titles.get(id) ?? id }, at: event.at, agent: event.agent, bids });
      }),
  };
}

function hasScores(event: Event): boolean {
  const scores = event['scores'];
  return Array.isArray(scores) && scores.every((score) => typeof score === 'object' && score !== null);
}

function bidOf(score: Record<string, unknown>): BidRow {
  const text = (key: string): string => (typeof score[key] === 'string' ? score[key] : '');
  const amount = (key: string): number | undefined => (typeof score[key] === 'number' ? score[key] : undefined);
  return defined({
    agent: text('agent'),
    verdict: text('verdict'),
    fitness: amount('fitness'),
    score: amount('score'),
    threshold: amount('threshold') ?? 0,
    record: text('record'),
    said: text('said'),
  });
}
