/** What a change does to a text, line by line, for a person to read: what stays at both ends is left out but for a little context. */

const CONTEXT = 3;

/** `-` goes, `+` comes, two blanks stay; empty when nothing changes. */
export function lineDiff(before: string, after: string): string {
  if (before === after) return '';
  const was = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  const is = after === '' ? [] : after.replace(/\n$/, '').split('\n');
  let head = 0;
  while (head < was.length && head < is.length && was[head] === is[head]) head++;
  let tail = 0;
  while (tail < Math.min(was.length, is.length) - head && was.at(-1 - tail) === is.at(-1 - tail)) tail++;
  const from = Math.max(0, head - CONTEXT);
  const lines = [
    `@@ line ${from + 1} @@`,
    ...was.slice(from, head).map((line) => `  ${line}`),
    ...was.slice(head, was.length - tail).map((line) => `- ${line}`),
    ...is.slice(head, is.length - tail).map((line) => `+ ${line}`),
    ...was.slice(was.length - tail, was.length - tail + CONTEXT).map((line) => `  ${line}`),
  ];
  return lines.join('\n');
}
