/** Makes a folder, with its parents. */
import { fileProblem } from './file-problem.js';
import type { Tool } from '../core/tool.js';

export const createDirectory: Tool = {
  name: 'create_directory',
  kind: 'effect',
  description: 'Makes a folder, with the folders above it. Your own folder is workspaces/<your name>/.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Path of the folder, relative to the workspace' } },
    required: ['path'],
    additionalProperties: false,
  },
  async run(args, context) {
    const path = args['path'] as string;
    const made = await context.folder.makeFolder(context.agent.name, path, context.approved);
    if (!made.ok) return fileProblem(made, 'make_folder', path, context);
    return { kind: 'text', text: made.value.created ? `created ${path}` : `${path} is already there` };
  },
};
