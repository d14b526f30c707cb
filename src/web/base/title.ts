/** Titles of tasks and conversations. */

const TITLE_MAX = 200;

/** The first line of a request. */
export function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.trim();
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1)}…` : line;
}
