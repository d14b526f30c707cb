/** Writes a whole text file. */
import { defineTool, text } from '../core/define-tool.js';
import { fileProblem } from './file-problem.js';

export const writeFile = defineTool({
  name: 'write_file',
  kind: 'effect',
  description:
    'Writes a text file: replaces it if it exists, and creates missing folders. Read a file before you replace it.',
  args: {
    path: text('Path of the file, relative to the workspace'),
    content: text('The whole new text of the file'),
  },
  async run({ path, content }, context) {
    const written = await context.folder.write(context.agent.name, path, content, context.approved, context.base);
    if (!written.ok) return fileProblem(written, 'write', path, context);
    const { created, bytes } = written.value;
    return {
      kind: 'text',
      text: `${created ? 'created' : 'replaced'} ${path}, ${bytes === 1 ? '1 byte' : `${bytes} bytes`}`,
    };
  },
});
