/** Reads a text file, a page at a time: what fits one tool result is given whole, and a cut says how to go on. */
import { fileProblem } from './file-problem.js';
import type { Tool, ToolReply } from '../core/tool.js';

const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** Below the size at which a tool result is moved out of the conversation. */
const PAGE_CHARS = 15_000;

export const readFile: Tool = {
  name: 'read_file',
  kind: 'pure',
  description: 'Reads a text file of the workspace. Long files come in pages: go on with from_line.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file, relative to the workspace' },
      from_line: { type: 'integer', minimum: 1, description: 'First line to read; 1 if left out' },
      lines: { type: 'integer', minimum: 1, description: 'How many lines to read at most' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  run(args, context) {
    const path = args['path'] as string;
    const read = context.folder.read(context.agent.name, path, MAX_FILE_BYTES, context.approved);
    if (!read.ok) return fileProblem(read, 'read', path, context);
    const from = (args['from_line'] as number | undefined) ?? 1;
    return page(path, read.value, from, args['lines'] as number | undefined);
  },
};

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
  if (from > all.length && from > 1) {
    return {
      kind: 'problem',
      code: 'not_found',
      message: `${path} has ${all.length} lines; from_line ${from} is after its end`,
    };
  }
  const shown = fitting(all.slice(from - 1, count === undefined ? undefined : from - 1 + count));
  const last = from - 1 + shown.lines.length;
  const end = file.cut ? `more than ${all.length}` : `${all.length}`;
  const next = last < all.length ? `; go on with from_line ${last + 1}` : '';
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
