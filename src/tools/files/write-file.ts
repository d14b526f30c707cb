/** Writes a whole text file. */
import { fileProblem } from './file-problem.js';
import type { Tool } from '../core/tool.js';

export const writeFile: Tool = {
  name: 'write_file',
  kind: 'effect',
  description:
    'Writes a text file, replacing it if it exists and making its folders. Your own folder is workspaces/<your name>/.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file, relative to the workspace' },
      content: { type: 'string', description: 'The whole new text of the file' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  async run(args, context) {
    const path = args['path'] as string;
    const written = await context.folder.write(context.agent.name, path, args['content'] as string, context.approved);
    if (!written.ok) return fileProblem(written, 'write', path, context);
    const { created, bytes } = written.value;
    return { kind: 'text', text: `${created ? 'created' : 'replaced'} ${path}, ${bytes} bytes` };
  },
};
