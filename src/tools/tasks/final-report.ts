/** Ends the task with an answer. */
import { defineTool, flag, optional, text, toolProblem } from '../core/define-tool.js';

export const finalReport = defineTool({
  name: 'final_report',
  kind: 'ask',
  description:
    'Ends your task with its result. Call it once, when nothing is left to do; the report is all the asker sees.',
  args: {
    report: text('The whole result'),
    success: optional(flag('false if the task could not be done; true if left out')),
  },
  run({ report, success }) {
    if (report.trim() === '') return toolProblem('bad_field', 'report is empty; write the whole result into it');
    return { kind: 'final', text: success === false ? `Not achieved: ${report.trim()}` : report.trim() };
  },
});
