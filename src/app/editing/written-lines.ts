/** What a call that writes a file changed, as far as its conversation shows. */
import { lineDiff } from '../../text/lines/line-diff.js';

/** Lines of a diff. `before`: the text that the conversation knows; absent: none. */
export function writtenLines(before: string | undefined, after: string): string[] {
  const diff = lineDiff(before ?? '', after);
  return diff === '' ? [] : diff.split('\n');
}
