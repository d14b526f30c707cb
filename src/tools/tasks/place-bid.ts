/** The only tool of an agent that is asked whether a task is for it: reflection, ability and fitness in one answer. */
import { asBid, MAX_FITNESS, MIN_FITNESS, printBid } from '../../domain/task/bid.js';
import type { Tool } from '../core/tool.js';

export const placeBid: Tool = {
  name: 'place_bid',
  kind: 'pure',
  description:
    'Says whether you should take the task that is offered, whether you can, and how fit you are. This ends your part.',
  parameters: {
    type: 'object',
    properties: {
      proceed: {
        type: 'boolean',
        description: 'False to step back: it is redundant, leads nowhere, or is better left to others',
      },
      able: { type: 'boolean', description: 'Whether your capabilities and tools are enough to do it' },
      fitness: { type: 'integer', minimum: MIN_FITNESS, maximum: MAX_FITNESS, description: 'How fit you are for it' },
      reason: { type: 'string', description: 'Why, in a sentence' },
    },
    required: ['proceed', 'able', 'fitness', 'reason'],
    additionalProperties: false,
  },
  run(args) {
    const bid = asBid(args);
    if (bid === undefined)
      return {
        kind: 'problem',
        code: 'bad_field',
        message: `fitness must be a whole number from ${MIN_FITNESS} to ${MAX_FITNESS}`,
      };
    return { kind: 'final', text: printBid(bid) };
  },
};
