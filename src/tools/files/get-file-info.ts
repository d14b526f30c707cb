/** Describes a path without reading it into the conversation. */
import { defineTool, text, toolProblem } from '../core/define-tool.js';
import { fileProblem } from './file-problem.js';

/** Larger files are not read to count their lines. */
const MAX_BYTES = 4 * 1024 * 1024;

export const getFileInfo = defineTool({
  name: 'get_file_info',
  kind: 'pure',
  description: 'Says whether a path is a file or a folder, how large it is, and how many lines a text file has.',
  args: { path: text('Path of the file or folder, relative to the workspace') },
  run({ path }, context) {
    const { folder, agent } = context;
    const read = folder.read(agent.name, path, MAX_BYTES);
    if (read.ok) {
      const { bytes, cut, text: content } = read.value;
      const lines = cut ? undefined : content === '' ? 0 : content.replace(/\n$/, '').split('\n').length;
      return { kind: 'text', text: JSON.stringify({ path, kind: 'text file', bytes, lines }) };
    }
    if (read.code === 'bad_file')
      return toolProblem('bad_file', `${path} is a file, but not UTF-8 text (${read.reason})`);
    const listed = folder.list(agent.name, path);
    if (!listed.ok) return fileProblem(read, 'read', path, context);
    return { kind: 'text', text: JSON.stringify({ path, kind: 'folder', entries: listed.value.length }) };
  },
});
