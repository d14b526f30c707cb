/** The lines that a call changed in a file, as far as its conversation shows them. */
import { lineDiff } from '../../text/lines/line-diff.js';

/** Lines of a diff. `before`: the text that the conversation knows; absent: none. */
export function writtenLines(before: string | undefined, after: string): string[] {
  const diff = lineDiff(before ?? '', after);
  return diff === '' ? [] : diff.split('\n');
}
