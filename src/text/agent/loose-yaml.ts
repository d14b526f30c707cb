/**
 * Frontmatter as users of Claude Code write it: `key: value` lines whose values are not always YAML
 * (`description: Use it when: …`). If the whole is not valid YAML, each line is read by itself.
 */
import type { YamlSource } from '../yaml/parse.js';

/** Undefined unless every unindented line is `key: value`, a comment or blank. */
export function loadLines(source: YamlSource): Record<string, unknown> | undefined {
  const read: [string, unknown][] = [];
  for (const line of source.text.slice(source.start, source.end).split(/\r?\n/)) {
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const pair = /^([A-Za-z_][\w-]*):(?:\s+(.*))?$/.exec(line);
    const last = read.at(-1);
    if (pair !== null) read.push([pair[1]!, valueOf(pair[2]?.trim() ?? '')]);
    else if (/^\s/.test(line) && last !== undefined) last[1] = continued(last[1], line.trim());
    else return undefined;
  }
  return new Set(read.map(([key]) => key)).size === read.length ? Object.fromEntries(read) : undefined;
}

function valueOf(text: string): unknown {
  const list = /^\[(.*)\]$/.exec(text);
  if (list !== null) return list[1]!.split(',').map((item) => unquoted(item.trim()));
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return unquoted(text);
}

function continued(value: unknown, line: string): unknown {
  const item = /^-\s+(.*)$/.exec(line);
  if (item !== null && (value === '' || Array.isArray(value)))
    return [...(value === '' ? [] : (value as unknown[])), unquoted(item[1]!)];
  return `${String(value).replace(/^[|>][+-]?$/, '')} ${line}`.trim();
}

function unquoted(text: string): string {
  return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}
