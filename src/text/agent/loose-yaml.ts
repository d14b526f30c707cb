/**
 * Frontmatter as users of Claude Code and Copilot write it: lines `key: value` whose values are not
 * always YAML (`description: Use it when: …`, also over several unindented lines). Frontmatter that
 * is not valid YAML is read line by line: a key that these programs know starts a field, and any
 * other line continues the field before it.
 */
import type { YamlSource } from '../yaml/parse.js';

/** Undefined if the text starts with anything but a known key. */
export function loadLines(source: YamlSource, knownKeys: ReadonlySet<string>): Record<string, unknown> | undefined {
  const fields = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const line of source.text.slice(source.start, source.end).split(/\r?\n/)) {
    const pair = /^([A-Za-z_][\w-]*):(?:\s+(.*))?$/.exec(line);
    if (pair !== null && knownKeys.has(pair[1]!) && !fields.has(pair[1]!)) {
      current = [pair[2]?.trim() ?? ''];
      fields.set(pair[1]!, current);
    } else if (current !== undefined) current.push(line.trim());
    else if (!/^\s*(?:#.*)?$/.test(line)) return undefined;
  }
  return Object.fromEntries([...fields].map(([key, lines]) => [key, valueOf(lines)]));
}

/** `lines`: the text after the colon, then the lines that continue it. */
function valueOf([first, ...rest]: string[]): unknown {
  const more = rest.filter((line) => line !== '' && !line.startsWith('#'));
  const items = more.map((line) => /^-\s+(.*)$/.exec(line)?.[1]);
  if (first === '' && more.length > 0 && items.every((item) => item !== undefined)) return items.map(unquoted);
  const text = [/^[|>][+-]?$/.test(first!) ? '' : first!, ...more].join(' ').trim();
  const list = /^\[(.*)\]$/.exec(text);
  if (list !== null) return list[1]!.split(',').flatMap((item) => (item.trim() === '' ? [] : unquoted(item.trim())));
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return unquoted(text);
}

function unquoted(text: string): string {
  return /^(["']).*\1$/.test(text) && text.length > 1 ? text.slice(1, -1) : text;
}
