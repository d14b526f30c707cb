/** Creates a folder and its missing parents. */
import { defineTool, text } from '../core/define-tool.js';
import { fileProblem } from './file-problem.js';

export const createDirectory = defineTool({
  name: 'create_directory',
  kind: 'effect',
  description: 'Creates a folder and its missing parents.',
  args: { path: text('Path of the folder, relative to the workspace') },
  async run({ path }, context) {
    const made = await context.folder.makeFolder(context.agent.name, path, context.approved);
    if (!made.ok) return fileProblem(made, 'make_folder', path, context);
    return { kind: 'text', text: made.value.created ? `created ${path}` : `${path} already exists` };
  },
});
