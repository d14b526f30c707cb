/** The only tool of a bidding agent: whether it should and can take the task, and how fit it is. */
import { asBid, MAX_FITNESS, MIN_FITNESS, printBid } from '../../domain/task/bid.js';
import { defineTool, flag, integer, text, toolProblem } from '../core/define-tool.js';

export const placeBid = defineTool({
  name: 'place_bid',
  kind: 'pure',
  description:
    'Bids for the offered task: whether you should take it, whether you can do it, and how well you fit. This ends your turn.',
  args: {
    proceed: flag('False to decline: the task is redundant, pointless, or better done by another agent'),
    able: flag('Whether your capabilities and tools are enough to do it'),
    fitness: integer('How well you fit the task', { minimum: MIN_FITNESS, maximum: MAX_FITNESS }),
    reason: text('Why, in a sentence'),
  },
  run(args) {
    const bid = asBid(args);
    if (bid === undefined)
      return toolProblem('bad_field', `fitness must be a whole number from ${MIN_FITNESS} to ${MAX_FITNESS}`);
    return { kind: 'final', text: printBid(bid) };
  },
});
