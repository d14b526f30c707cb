/** The only tool of a goal check: it says whether a result advances the goal and ends the check. */
import { printVerdict } from '../../domain/task/goal-verdict.js';
import { defineTool, flag, optional, text, toolProblem } from '../core/define-tool.js';

export const giveVerdict = defineTool({
  name: 'give_verdict',
  kind: 'pure',
  description:
    'States whether the result advances the original goal. The evidence comes first, the verdict last. This ends your turn.',
  args: {
    evidence: optional(text('The sentence or the file in the result that convinces you, quoted')),
    missing: optional(
      text('What is missing or wrong, so that the author can fix it in one more attempt; "nothing" if it is complete'),
    ),
    reason: text('Why the result does or does not advance the goal'),
    advances: flag('Whether the result meaningfully advances the original goal'),
  },
  run({ advances, reason, missing }) {
    const why = reason.trim();
    if (!advances && why === '') return toolProblem('bad_field', 'reason is empty; say what is missing');
    const lacking = advances ? '' : (missing?.trim() ?? '');
    const whole = lacking === '' || why.includes(lacking) ? why : `${why} Missing: ${lacking}`;
    return { kind: 'final', text: printVerdict({ advances, reason: whole }) };
  },
});
