/** Ends the task with its result, or as failed with the reason. */
import { defineTool, flag, optional, text, toolProblem } from '../core/define-tool.js';

export const finalReport = defineTool({
  name: 'final_report',
  kind: 'ask',
  description:
    'Ends your task. Call it once, when nothing is left to do; the asker sees only this report. If you could not do what was asked, say so with success: false: the task then counts as failed, and work that depends on it does not start.',
  args: {
    report: text('The whole result; if you could not do it, what you tried and what is missing'),
    success: optional(flag('false if you could not do what was asked; true if left out')),
  },
  run({ report, success }) {
    if (report.trim() === '') return toolProblem('bad_field', 'report is empty; write the whole result into it');
    return { kind: 'final', text: report.trim(), ...(success === false ? { success } : {}) };
  },
});
