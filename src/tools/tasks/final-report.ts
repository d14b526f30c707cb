/** Ends the task with an answer. */
import type { Tool } from '../core/tool.js';

export const finalReport: Tool = {
  name: 'final_report',
  kind: 'ask',
  description:
    'Ends your task with its result. Call it once, when nothing is left to do; the report is all the asker sees.',
  parameters: {
    type: 'object',
    properties: {
      report: { type: 'string', description: 'The whole result' },
      success: { type: 'boolean', description: 'false if the task could not be done; true if left out' },
    },
    required: ['report'],
    additionalProperties: false,
  },
  run(args) {
    const report = (args['report'] as string).trim();
    if (report === '')
      return { kind: 'problem', code: 'bad_field', message: 'report is empty; write the whole result into it' };
    return { kind: 'final', text: args['success'] === false ? `Not achieved: ${report}` : report };
  },
};
