/**
 * Reads messages as `print` writes them, without the YAML parser, which takes most of the time to
 * open a long conversation. An item in another form, such as one that a person wrote, is given to
 * the parser by itself; if the parser does not read it as one item either, the whole file is
 * parsed.
 */
import { isPlainText, loadsAsWritten } from '../yaml/scalar.js';
import { loadYaml, wholeFile } from '../yaml/parse.js';
import { headLength } from './tail.js';

type Fields = Record<string, unknown>;

/** The value that the YAML parser would give; undefined if only the parser can tell. */
export function loadOwnFormat(text: string): Fields | undefined {
  const end = headLength(text);
  if (end === undefined || !text.startsWith(ITEM, end) || !loadsAsWritten(text)) return undefined;
  const head = loadYaml(wholeFile('', text.slice(0, end)));
  if (!head.ok || typeof head.value !== 'object' || head.value === null) return undefined;
  const messages: unknown[] = [];
  for (let from = end; from < text.length;) {
    const next = text.indexOf(`\n${ITEM}`, from);
    const item = text.slice(from, next < 0 ? text.length : next + 1);
    const value = ownItem(item) ?? parsedItem(item);
    if (value === undefined) return undefined;
    messages.push(value);
    from += item.length;
  }
  return { ...(head.value as Fields), messages };
}

const ITEM = '  - role: ';
const KEY = /^ {4}([a-z][a-z_]*): (.*)$/;

function parsedItem(item: string): unknown {
  const yaml = loadYaml(wholeFile('', item));
  return yaml.ok && Array.isArray(yaml.value) && yaml.value.length === 1 ? yaml.value[0] : undefined;
}

function ownItem(item: string): Fields | undefined {
  if (!item.endsWith('\n')) return undefined;
  const lines = item.slice(0, -1).split('\n');
  const fields: Fields = {};
  for (let at = 0; at < lines.length;) {
    const line = at === 0 ? lines[0]!.replace('-', ' ') : lines[at]!;
    const [, key, written] = KEY.exec(line) ?? [];
    if (key === undefined || Object.hasOwn(fields, key)) return undefined;
    let after = ++at;
    while (after < lines.length && !KEY.test(lines[after]!)) after++;
    const value = written!.startsWith('|') ? block(written!, lines.slice(at, after)) : oneLine(written!);
    if (value === undefined || (after > at && !written!.startsWith('|'))) return undefined;
    fields[key] = value;
    at = after;
  }
  return fields;
}

function oneLine(written: string): unknown {
  if (written.startsWith("'") || written.startsWith('"')) return quoted(written);
  if (written.startsWith('{')) return flow(written);
  if (written === 'true' || written === 'false') return written === 'true';
  return isPlainText(written) ? written : undefined;
}

const SINGLE = /^'(?:[^']|'')*'$/;
const DOUBLE = /^"(?:[^"\\]|\\["\\/bfnrtu])*"$/;

function quoted(written: string): string | undefined {
  if (SINGLE.test(written)) return written.slice(1, -1).replaceAll("''", "'");
  if (!DOUBLE.test(written)) return undefined;
  try {
    return JSON.parse(written) as string;
  } catch {
    return undefined;
  }
}

const FLOW_FIELD = /(?:\{|, )([a-z][a-z_]*): ('(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|(?:0|[1-9]\d{0,14})(?=[,}]))/y;

function flow(written: string): Fields | undefined {
  const fields: Fields = {};
  let end = 0;
  for (FLOW_FIELD.lastIndex = 0; end < written.length - 1; end = FLOW_FIELD.lastIndex) {
    const [, key, value] = FLOW_FIELD.exec(written) ?? [];
    if (key === undefined || Object.hasOwn(fields, key)) return undefined;
    fields[key] = /^\d/.test(value!) ? Number(value) : quoted(value!);
    if (fields[key] === undefined) return undefined;
  }
  return written.endsWith('}') ? fields : undefined;
}

const INDENT = 6;

/** Lines of a literal block. The first one shows the indentation, or its header states it. */
function block(header: string, lines: readonly string[]): string | undefined {
  const [, stated, chomp] = /^\|(2?)([+-]?)$/.exec(header) ?? [];
  if (chomp === undefined || lines.length === 0 || !lines.every((line) => line === '' || line.startsWith(PAD)))
    return undefined;
  if (stated === '' && !/^ {6}[^ \t]/.test(lines[0]!)) return undefined;
  // The forms of a block in YAML differ in how many empty lines they keep at the end.
  if (lines.at(-1)!.trim() === '' && chomp !== '+') return undefined;
  return lines.map((line) => line.slice(INDENT)).join('\n') + (chomp === '-' ? '' : '\n');
}

const PAD = ' '.repeat(INDENT);
