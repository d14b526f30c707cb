/** The only tool of a bid: it says whether an agent should take an offered task. */
import { asBid, MAX_FITNESS, MIN_FITNESS, printBid } from '../../domain/task/bid.js';
import { defineTool, flag, integer, optional, text, toolProblem } from '../core/define-tool.js';

export const placeBid = defineTool({
  name: 'place_bid',
  kind: 'pure',
  description:
    'Bids for the offered task. Answer the questions in order; the decision comes last. This ends your turn.',
  args: {
    recent: optional(text('Have you done something similar lately, and how did it go?')),
    helps_goal: optional(text('Does the task advance the goal, and how?')),
    redundant_with: optional(text('The listed open task that it repeats; "none" if there is none')),
    reason: text('Why you should or should not take it, in a sentence'),
    able: flag('Whether your capabilities and tools are enough to do it'),
    fitness: integer('How well you fit: 1 if any other bidder would do it better, 10 for an exact match', {
      minimum: MIN_FITNESS,
      maximum: MAX_FITNESS,
    }),
    proceed: flag('False to step back: the task is redundant, pointless, or better done by another bidder'),
  },
  run(args) {
    const bid = asBid(args);
    if (bid === undefined)
      return toolProblem('bad_field', `fitness must be a whole number from ${MIN_FITNESS} to ${MAX_FITNESS}`);
    return { kind: 'final', text: printBid(bid) };
  },
});
