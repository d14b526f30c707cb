/** Reads a text file in pages. A short file comes whole; a page says how to continue. */
import { sizeText } from '../../domain/file-ref.js';
import { defineTool, integer, optional, text, toolProblem } from '../core/define-tool.js';
import type { ToolReply } from '../core/tool.js';
import { fileProblem } from './file-problem.js';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Below the size at which a tool result is moved out of the conversation. */
const PAGE_CHARS = 15_000;

export const readFile = defineTool({
  name: 'read_file',
  kind: 'pure',
  description:
    'Reads a text file of the workspace, or shows an image or a PDF document. Long texts come in pages: continue with from_line.',
  args: {
    path: text('Path of the file, relative to the workspace'),
    from_line: optional(integer('First line to read; 1 if left out', { minimum: 1 })),
    lines: optional(integer('How many lines to read at most', { minimum: 1 })),
  },
  run({ path, from_line: from = 1, lines }, context) {
    if (MEDIA.test(path)) {
      const shown = context.folder.readMedia(context.agent.name, path, MAX_MEDIA_BYTES, context.approved);
      if (!shown.ok) return fileProblem(shown, 'read', path, context);
      if (shown.value) return shownFile(path, shown.value);
    }
    const read = context.folder.read(context.agent.name, path, MAX_FILE_BYTES, context.approved);
    if (!read.ok) return fileProblem(read, 'read', path, context);
    return page(path, read.value, from, lines);
  },
});

/** Only files with these extensions are checked: reading every text twice would cost too much. */
const MEDIA = /\.(png|jpe?g|gif|webp|pdf)$/i;
/** The size that every provider accepts for one file. */
const MAX_MEDIA_BYTES = 4 * 1024 * 1024;

function shownFile(path: string, { mediaType, data }: { mediaType: string; data: Uint8Array }): ToolReply {
  const name = path.replace(/^.*\//, '');
  return {
    kind: 'text',
    text: `[${path}: ${mediaType}, ${sizeText(data.length)}]`,
    files: [{ name, mediaType, data }],
  };
}

function page(
  path: string,
  file: { text: string; bytes: number; cut: boolean },
  from: number,
  count?: number,
): ToolReply {
  const text = file.text.replace(/\r\n?/g, '\n');
  if (from === 1 && count === undefined && !file.cut && text.length <= PAGE_CHARS) return { kind: 'text', text };
  const all = text.split('\n');
  if (all.at(-1) === '') all.pop();
  if (from > all.length && from > 1)
    return toolProblem('not_found', `${path} has ${all.length} lines; from_line ${from} is after its end`);
  const shown = fitting(all.slice(from - 1, count === undefined ? undefined : from - 1 + count));
  const last = from - 1 + shown.lines.length;
  const end = file.cut ? `more than ${all.length}` : `${all.length}`;
  const next = last < all.length ? `; continue with from_line ${last + 1}` : '';
  const long = shown.torn ? '; the line is longer than a page and was cut' : '';
  const body = shown.lines.map((line) => `${line}\n`).join('');
  if (from === 1 && last === all.length && !file.cut && !shown.torn) return { kind: 'text', text: body };
  return { kind: 'text', text: `[${path}: lines ${from} to ${last} of ${end}${next}${long}]\n${body}` };
}

/** As many whole lines as fit a page; one line that alone is too long is cut. */
function fitting(lines: string[]): { lines: string[]; torn: boolean } {
  let room = PAGE_CHARS;
  const fit = lines.findIndex((line) => (room -= line.length + 1) < 0);
  if (fit === 0) return { lines: [lines[0]!.slice(0, PAGE_CHARS)], torn: true };
  return { lines: fit < 0 ? lines : lines.slice(0, fit), torn: false };
}
