/** The only tool of a bidding agent: whether it should and can take the task, and how fit it is. */
import { asBid, MAX_FITNESS, MIN_FITNESS, printBid } from '../../domain/task/bid.js';
import { defineTool, flag, integer, text, toolProblem } from '../core/define-tool.js';

export const placeBid = defineTool({
  name: 'place_bid',
  kind: 'pure',
  description:
    'Says whether you should take the task that is offered, whether you can, and how fit you are. This ends your part.',
  args: {
    proceed: flag('False to step back: the task is redundant, leads nowhere, or is better left to others'),
    able: flag('Whether your capabilities and tools are enough to do it'),
    fitness: integer('How fit you are for it', { minimum: MIN_FITNESS, maximum: MAX_FITNESS }),
    reason: text('Why, in a sentence'),
  },
  run(args) {
    const bid = asBid(args);
    if (bid === undefined)
      return toolProblem('bad_field', `fitness must be a whole number from ${MIN_FITNESS} to ${MAX_FITNESS}`);
    return { kind: 'final', text: printBid(bid) };
  },
});
