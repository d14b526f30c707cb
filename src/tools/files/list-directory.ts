/** Shows what is in a folder. */
import { defineTool, optional, text } from '../core/define-tool.js';
import { fileProblem } from './file-problem.js';

const MAX_SHOWN = 500;

export const listDirectory = defineTool({
  name: 'list_directory',
  kind: 'pure',
  description:
    'Lists the files and folders in a folder of the workspace. Folders end with a slash, files show their size in bytes.',
  args: { path: optional(text('Path of the folder, relative to the workspace; "." if left out')) },
  run(args, context) {
    const path = args.path || '.';
    const listed = context.folder.list(context.agent.name, path);
    if (!listed.ok) return fileProblem(listed, 'list', path, context);
    const lines = listed.value.slice(0, MAX_SHOWN).map((entry) => line(entry));
    const more = listed.value.length - lines.length;
    if (more > 0) lines.push(`… and ${more} more`);
    return { kind: 'text', text: lines.length === 0 ? '(empty)' : lines.join('\n') };
  },
});

/** A name with unusual characters is shown as JSON, so that a line is always one entry. */
function line(entry: { name: string; kind: 'file' | 'folder' | 'other'; bytes: number }): string {
  const name = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(entry.name) ? JSON.stringify(entry.name) : entry.name;
  if (entry.kind === 'folder') return `${name}/`;
  return entry.kind === 'file' ? `${name}\t${entry.bytes}` : `${name}\t(not a readable file)`;
}
