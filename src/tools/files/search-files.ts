/** Finds lines in the workspace's files that fit some words best. */
import { fileProblem } from './file-problem.js';
import type { Tool } from '../core/tool.js';

export const searchFiles: Tool = {
  name: 'search_files',
  kind: 'pure',
  description:
    'Finds lines in the text files of the workspace, best first, as path:line: text. Give a few telling words; put an exact phrase in double quotes.',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Words to look for' },
      path: { type: 'string', description: 'Folder to search in; the whole workspace if left out' },
      limit: { type: 'integer', minimum: 1, maximum: 50, description: 'How many lines at most; 10 if left out' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  async run(args, context) {
    const under = ((args['path'] as string | undefined) ?? '.') || '.';
    const limit = (args['limit'] as number | undefined) ?? 10;
    const reply = await context.folder.search(context.agent.name, args['query'] as string, { under, limit });
    if (!reply.ok) return fileProblem(reply, 'list', under, context);
    const lines = reply.value.map((found) => `${found.path}:${found.line}: ${found.text}`);
    if (lines.length === 0) lines.push('nothing found; try other words, or fewer');
    if (reply.note !== undefined) lines.push(`[${reply.note}]`);
    return { kind: 'text', text: lines.join('\n') };
  },
};
