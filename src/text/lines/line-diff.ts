/** A line diff for people: each changed place with a little context. */
import { structuredPatch } from 'diff/lib/patch/create.js';

const CONTEXT = 3;
/** Limits the time for two large, unrelated texts. Beyond it the whole text counts as replaced. */
const MAX_EDITS = 1000;

/**
 * `- ` marks a removed line, `+ ` an added one, two spaces an unchanged one; `@@ line 7 @@` starts
 * each place. Empty if nothing changes. A final newline does not count.
 */
export function lineDiff(before: string, after: string, context = CONTEXT): string {
  const [oldText, newText] = [withNewline(before), withNewline(after)];
  const patch = structuredPatch('', '', oldText, newText, '', '', { context, maxEditLength: MAX_EDITS });
  const hunks = patch?.hunks ?? [{ oldStart: 1, lines: [...marked('-', oldText), ...marked('+', newText)] }];
  return hunks
    .flatMap(({ oldStart, lines }) => [
      `@@ line ${Math.max(1, oldStart)} @@`,
      ...lines.map((line) => `${line[0]} ${line.slice(1)}`),
    ])
    .join('\n');
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function marked(mark: string, text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => mark + line);
}
