/** Finds the lines of the workspace's files that match some words best. */
import { defineTool, integer, optional, text } from '../core/define-tool.js';
import { fileProblem } from './file-problem.js';

export const searchFiles = defineTool({
  name: 'search_files',
  kind: 'pure',
  description:
    'Finds lines in the text files of the workspace, best first, as path:line: text. Give a few distinctive words; put an exact phrase in double quotes.',
  args: {
    query: text('Words to look for'),
    path: optional(text('Folder to search in; the whole workspace if left out')),
    limit: optional(integer('How many lines at most; 10 if left out', { minimum: 1, maximum: 50 })),
  },
  async run({ query, path, limit = 10 }, context) {
    const under = path || '.';
    const reply = await context.folder.search(context.agent.name, query, { under, limit });
    if (!reply.ok) return fileProblem(reply, 'list', under, context);
    const lines = reply.value.map((hit) => `${hit.path}:${hit.line}: ${hit.text}`);
    if (lines.length === 0) lines.push('nothing found; try other words, or fewer');
    if (reply.note !== undefined) lines.push(`[${reply.note}]`);
    return { kind: 'text', text: lines.join('\n') };
  },
});
