/** The only tool of a goal check: it says whether a result advances the goal and ends the check. */
import { printVerdict } from '../../domain/task/goal-verdict.js';
import { defineTool, flag, text, toolProblem } from '../core/define-tool.js';

export const giveVerdict = defineTool({
  name: 'give_verdict',
  kind: 'pure',
  description: 'States whether the result advances the original goal, and why. This ends your turn.',
  args: {
    advances: flag('Whether the result meaningfully advances the original goal'),
    reason: text('Why; if the result does not advance the goal, what is missing'),
  },
  run({ advances, reason }) {
    if (!advances && reason.trim() === '') return toolProblem('bad_field', 'reason is empty; say what is missing');
    return { kind: 'final', text: printVerdict({ advances, reason: reason.trim() }) };
  },
});
