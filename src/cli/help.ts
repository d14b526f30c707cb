/** Help texts of the commands, wrapped at words to the width of the terminal. */
import type { Command, Options, Usage } from './args/command.js';
import { columnsOf } from './render/columns.js';
import { wrapped } from './render/layout.js';

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;
export const PIPE_WIDTH = 80;
/** A wider first column gets a separate line. */
const MAX_LEFT = 32;

export function helpWidth(width: number): number {
  return width === Infinity ? PIPE_WIDTH : Math.min(width, MAX_WIDTH);
}

export function commandHelp({ usage, about, options = {} }: Command, width: number): string[] {
  return joined([usageLines(usage, width), paragraphs(about, width), optionLines(options, width)]);
}

export function joined(sections: readonly string[][]): string[] {
  return sections.filter((lines) => lines.length > 0).flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

export function optionLines(options: Options, width: number, title = 'Options'): string[] {
  const rows = Object.entries(options).map(([name, { short, value, about }]): [string, string] => {
    const names = `--${name}${short === undefined ? '' : `, -${short}`}`;
    return [value === undefined ? names : `${names} ${value}`, about];
  });
  return rows.length === 0 ? [] : [`${title}:`, ...twoColumns(rows, width)];
}

/**
 * Blocks between empty lines. A block whose lines are indented is an example and keeps its lines.
 */
export function paragraphs(text: string, width: number): string[] {
  const blocks = text.replace(/^\n+|\s+$/g, '').split(/\n{2,}/);
  return joined(
    blocks.map((block) => {
      const lines = block.split('\n');
      if (lines.every((line) => line.startsWith('  '))) return lines.flatMap((line) => wrapped(line, width, '      '));
      return block === '' ? [] : wrapped(block, width, '');
    }),
  );
}

/**
 * Rows of a name and its meaning, with a hanging indent. In a narrow window the meaning is below
 * the name. `widest`: columns of the widest name, if other rows are to line up with these.
 */
export function twoColumns(
  rows: readonly [left: string, right: string][],
  width: number,
  widest = Math.max(...rows.map(([left]) => columnsOf(left))),
): string[] {
  const left = Math.min(widest, MAX_LEFT, Math.floor(width * 0.45));
  const indent = widest <= width * 0.45 ? ' '.repeat(left + 4) : '      ';
  return rows.flatMap(([name, meaning]) => {
    if (indent.length === left + 4 && columnsOf(name) <= left)
      return wrapped(`  ${name.padEnd(left)}  ${meaning}`, width, indent);
    return [...wrapped(`  ${name}`, width, '      '), ...wrapped(`${indent}${meaning}`, width, indent)];
  });
}

function usageLines(usage: Usage, width: number): string[] {
  if (typeof usage === 'string') return wrapped(`guild ${usage}`, width, '    ');
  return twoColumns(
    usage.map(([form, meaning]) => [`guild ${form}`, meaning]),
    width,
  );
}
