/** The only tool of a goal check: it says whether a result advances the goal, and that ends the check. */
import { printVerdict } from '../../domain/task/goal-verdict.js';
import type { Tool } from '../core/tool.js';

export const giveVerdict: Tool = {
  name: 'give_verdict',
  kind: 'pure',
  description: 'Says whether the result advances the original goal, and why. This ends your part.',
  parameters: {
    type: 'object',
    properties: {
      advances: { type: 'boolean', description: 'Whether the result meaningfully advances the original goal' },
      reason: { type: 'string', description: 'Why; if it does not, what is missing, so that it can be mended' },
    },
    required: ['advances', 'reason'],
    additionalProperties: false,
  },
  run(args) {
    const advances = args['advances'] as boolean;
    const reason = (args['reason'] as string).trim();
    if (!advances && reason === '')
      return { kind: 'problem', code: 'bad_field', message: 'reason is empty; say what is missing' };
    return { kind: 'final', text: printVerdict({ advances, reason }) };
  },
};
