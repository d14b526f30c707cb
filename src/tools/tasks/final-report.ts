/**
 * Ends the task with its result, or as failed with the reason. The result of an agent that declares
 * its `output` is an object in `result`; the schema that the model sees has it instead of `report`.
 */
import { defined } from '../../domain/defined.js';
import { answerFault } from '../core/answer.js';
import { defineTool, flag, mapping, optional, text, toolProblem } from '../core/define-tool.js';

export const finalReport = defineTool({
  name: 'final_report',
  kind: 'ask',
  description:
    'Ends your task. Call it once, when nothing is left to do; the asker sees only this report. If you could not do what was asked, say so with success: false: the task then counts as failed, and work that depends on it does not start.',
  args: {
    report: optional(text('The whole result; if you could not do it, what you tried and what is missing')),
    result: optional(mapping('The whole result')),
    success: optional(flag('false if you could not do what was asked; true if left out')),
  },
  run({ report = '', result, success }, { agent: { output } }) {
    const said = report.trim();
    if (output === undefined || success === false) {
      if (said === '') return toolProblem('bad_field', 'report is missing or empty; write the whole result into it');
      return defined({ kind: 'final', text: said, success: success === false ? success : undefined });
    }
    if (result === undefined) return toolProblem('bad_field', 'result is missing; give it as an object');
    const wrong = answerFault(output, result);
    return wrong === undefined
      ? { kind: 'final', text: JSON.stringify(result, null, 2) }
      : toolProblem('bad_field', `result: ${wrong}`);
  },
});
