/**
 * YAML as this program reads it: the core schema of YAML 1.2, one document, unique keys, no custom
 * tags, no merge keys, few aliases, limited depth. js-yaml parses; places are looked up in its
 * event stream only when something is wrong.
 */
import {
  CORE_SCHEMA,
  EVENT_ID,
  SCALAR_STYLE,
  YAMLException,
  defineScalarTag,
  getScalarValue,
  intCoreTag,
  load,
  parseEvents,
} from 'js-yaml';
import { problem, type Problem, type Where } from '../../domain/problem.js';
import { placesIn, whereAt } from '../lines/where.js';

/** The part of a file that is YAML: all of it, or the frontmatter. */
export interface YamlSource {
  file: string;
  text: string;
  start: number;
  end: number;
}

type YamlLoaded = { ok: true; value: unknown } | { ok: false; problem: Problem };

const MAX_YAML_DEPTH = 64;
/** Enough for the anchors that people write, too few for an alias bomb. */
const MAX_ALIASES = 10;

export function wholeFile(file: string, text: string): YamlSource {
  return { file, text, start: text.startsWith('\uFEFF') ? 1 : 0, end: text.length };
}

/** A whole number that JavaScript would round is read as text, so that no digit is lost. */
const EXACT_SCHEMA = CORE_SCHEMA.withTags(
  defineScalarTag<number | string>(intCoreTag.tagName, {
    ...intCoreTag,
    resolve(source, isExplicit, tagName) {
      const value = intCoreTag.resolve(source, isExplicit, tagName);
      const isRounded = typeof value === 'number' && !Number.isSafeInteger(value) && String(value) !== source;
      return isRounded ? source : value;
    },
  }),
);

/** Text with only blanks and comments loads as `null`. */
export function loadYaml(source: YamlSource): YamlLoaded {
  const yaml = source.text.slice(source.start, source.end);
  try {
    const value = load(yaml, { schema: EXACT_SCHEMA, maxDepth: MAX_YAML_DEPTH, maxAliases: MAX_ALIASES });
    return { ok: true, value };
  } catch (thrown) {
    if (yaml.replace(/^[ \t]*#.*$/gm, '').trim() === '') return { ok: true, value: null };
    return { ok: false, problem: explain(source, thrown) };
  }
}

interface YamlPlace {
  /** Offset of the key, or of the value if it has none (an item, the document). */
  key: number;
  value: number;
}

/** Places in a source that parses, by path: `['team', 'members', 0]`. */
export class YamlPlaces {
  private places: Map<string, YamlPlace> | undefined;
  private readonly whereAt: (offset: number) => Where;
  constructor(private readonly source: YamlSource) {
    this.whereAt = placesIn(source.file, source.text);
  }

  /** The place of the key at this path, or of the nearest value around it that exists. */
  key(path: readonly (string | number)[]): Where {
    return this.where(path, 'key');
  }

  value(path: readonly (string | number)[]): Where {
    return this.where(path, 'value');
  }

  /** The place of the value at exactly this path; undefined if it does not exist. */
  exact(path: readonly (string | number)[]): Where | undefined {
    this.places ??= findPlaces(this.source);
    const place = this.places.get(path.join('\n'));
    return place && this.whereAt(place.value);
  }

  private where(path: readonly (string | number)[], side: keyof YamlPlace): Where {
    this.places ??= findPlaces(this.source);
    for (let length = path.length; length >= 0; length--) {
      const place = this.places.get(path.slice(0, length).join('\n'));
      if (place !== undefined) return this.whereAt(place[side]);
    }
    return { file: this.source.file };
  }
}

function explain(source: YamlSource, thrown: unknown): Problem {
  const { file, text } = source;
  const conflict = /^(?:<{7}|>{7})(?: |\r?$)/m.exec(text);
  if (conflict !== null) {
    return problem('bad_file', 'the file has an unresolved merge conflict', {
      where: whereAt(file, text, conflict.index),
      hint: 'resolve the conflict, then save',
    });
  }
  if (!(thrown instanceof YAMLException)) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return problem('bad_file', `this YAML cannot be read: ${reason}`, { where: { file } });
  }
  const at = thrown.mark?.position ?? secondDocument(thrown.reason, text.slice(source.start, source.end));
  const where = at === undefined ? { file } : whereAt(file, text, Math.min(source.start + at, source.end));
  const isOpen = at !== undefined && /flow|deficient|comma|implicit|end of the stream/.test(thrown.reason);
  const open = isOpen ? openBracket(text.slice(source.start, source.start + at)) : undefined;
  if (open !== undefined) {
    const sign = text[source.start + open]!;
    return problem('bad_file', `this ${sign} is not closed`, {
      where: whereAt(file, text, source.start + open),
      hint: `add a ${sign === '[' ? ']' : '}'}`,
    });
  }
  const deep = /depth|nesting|aliases/i.test(thrown.reason);
  const hint = hintFor(thrown.reason, where.source ?? '');
  return problem(deep ? 'over_limit' : 'bad_file', reword(thrown.reason), { where, hint });
}

/**
 * The innermost list or mapping in brackets that is open at the end of the text. The parser reports
 * it where it gives up, which is often a line later.
 */
function openBracket(yaml: string): number | undefined {
  const open: number[] = [];
  /** The last character that is not blank; quotes and brackets have a meaning only after these. */
  let before = '\n';
  for (let at = 0; at < yaml.length; at++) {
    const c = yaml[at]!;
    const isStart = '\n:-,[{'.includes(before);
    if (c === '#' && /^\s?$/.test(yaml[at - 1] ?? '')) at = lineEnd(yaml, at) - 1;
    else if ((c === '"' || c === "'") && isStart) {
      const end = endOfQuote(yaml, at);
      if (end < 0) return undefined;
      at = end;
      before = c;
    } else if ((c === '[' || c === '{') && isStart) open.push(at);
    else if ((c === ']' || c === '}') && open.length > 0) open.pop();
    if (c === '\n' ? open.length === 0 : !/\s/.test(c)) before = yaml[at] ?? c;
  }
  return open.at(-1);
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function endOfQuote(yaml: string, start: number): number {
  for (let at = start + 1; at < yaml.length; at++) {
    if (yaml[at] === '\\' && yaml[start] === '"') at++;
    else if (yaml[at] === yaml[start]) return at;
  }
  return -1;
}

/** The parser does not say where the second document begins. */
function secondDocument(reason: string, yaml: string): number | undefined {
  if (!reason.startsWith('expected a single document')) return undefined;
  const marks = [...yaml.matchAll(/^---(?=\s|$)/gm)];
  const isFirstMarked = /^(?:[ \t]*(?:#.*|%.*)?\r?\n)*---(?=\s|$)/.test(yaml);
  return (marks[isFirstMarked ? 1 : 0] ?? /^\.\.\.(?=\s|$)/m.exec(yaml))?.index;
}

function hintFor(reason: string, line: string): string | undefined {
  if (/^\s*\t/.test(line)) return 'indent with spaces: YAML does not allow tabs';
  if (reason.startsWith('bad indentation of a mapping'))
    return 'check the indentation; text with ": " in it needs quotes';
  if (/^(deficient indentation|unexpected end|unknown escape|end of the stream|can not read)/.test(reason))
    return 'check for an open quote or bracket above, or a line with another indentation than its neighbours';
  return undefined;
}

function reword(reason: string): string {
  if (reason === 'duplicated mapping key') return 'this key occurs twice';
  if (reason.startsWith('nesting exceeded')) return `nested deeper than ${MAX_YAML_DEPTH} levels`;
  if (reason.startsWith('expected a single document')) return 'the file has more than one YAML document';
  return reason;
}

interface Open {
  path: string;
  /** The index of the next item of a sequence; -1 for a mapping. */
  index: number;
  key?: { name: string; offset: number };
}

function findPlaces(source: YamlSource): Map<string, YamlPlace> {
  const yaml = source.text.slice(source.start, source.end);
  const places = new Map<string, YamlPlace>();
  const stack: Open[] = [];
  const at = (offset: number): number => source.start + Math.max(0, offset);

  /** Notes the place of the next node. Returns its path, or undefined if the node is a key. */
  const enter = (offset: number, scalar: string | undefined): string | undefined => {
    const top = stack.at(-1);
    if (top === undefined) {
      places.set('', { key: at(offset), value: at(offset) });
      return '';
    }
    if (top.index >= 0) {
      const path = join(top.path, top.index++);
      places.set(path, { key: at(offset), value: at(offset) });
      return path;
    }
    if (top.key === undefined) {
      top.key = { name: scalar ?? '?', offset: at(offset) };
      return undefined;
    }
    const path = join(top.path, top.key.name);
    places.set(path, { key: top.key.offset, value: offset < 0 ? top.key.offset : at(offset) });
    top.key = undefined;
    return path;
  };

  try {
    for (const event of parseEvents(yaml, { maxDepth: MAX_YAML_DEPTH })) {
      if (event.type === EVENT_ID.SCALAR) {
        const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
        const offset = event.valueStart < 0 ? -1 : event.valueStart - (quoted ? 1 : 0);
        enter(offset, getScalarValue(yaml, event));
      } else if (event.type === EVENT_ID.ALIAS) enter(event.anchorStart, undefined);
      else if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) {
        const path = enter(event.start, undefined) ?? '?';
        stack.push({ path, index: event.type === EVENT_ID.MAPPING ? -1 : 0 });
      } else if (event.type === EVENT_ID.POP) stack.pop();
    }
  } catch {
    // the places before the fault are still right
  }
  return places;
}

function join(path: string, part: string | number): string {
  return path === '' ? String(part) : `${path}\n${part}`;
}
