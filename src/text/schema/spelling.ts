/**
 * Brings a value that a person wrote into the spelling of its schema, before zod checks it:
 * `maxTokens` is `max_tokens`, `coordinator_decides` is `coordinatorDecides`, and `null` counts as
 * absent. Unknown keys are reported here too, because this file knows the nearest known key.
 */
import { nearest } from '../../domain/nearest.js';
import { ABOUT, type Schema } from '../../schemas/about.js';
import { isMapping } from '../../domain/mapping.js';
import { fault, nameOf, type Fault, type Path } from './fault.js';
import type { Spelling } from './issues.js';

export interface Spelled extends Spelling {
  value: unknown;
  faults: Fault[];
  /** Keys that a tolerant format does not know. */
  ignored: Fault[];
}

export function spell(schema: Schema, raw: unknown): Spelled {
  const faults: Fault[] = [];
  const ignored: Fault[] = [];
  const keys = new Map<string, string>();
  const hints = new Map<string, string>();
  const written = (path: Path): Path => path.map((segment, i) => keys.get(joined(path.slice(0, i + 1))) ?? segment);

  return { value: walk(schema, raw, []), faults, ignored, written, hint: (path) => hints.get(joined(path)) };

  function walk(node: Schema, value: unknown, path: Path): unknown {
    const { def } = optionFor(node, value)._zod as { def: Def };
    if (def.type === 'enum' && typeof value === 'string') return word(Object.values(def.entries!), value);
    if (def.type === 'array' && Array.isArray(value))
      return value.map((item: unknown, i) => walk(def.element!, item, [...path, i]));
    if (def.type === 'object' && isMapping(value)) return mapping(def, value, path);
    if (def.type === 'record' && isMapping(value)) return entries(def.valueType!, value, path);
    return value;
  }

  function entries(valueType: Schema, value: Record<string, unknown>, path: Path): unknown {
    const read: [string, unknown][] = [];
    for (const [name, item] of Object.entries(value)) {
      if (item === null && !accepts(valueType, null)) continue;
      // zod does not check this key, so it is checked here
      if (name === '__proto__' && !accepts(valueType, item))
        faults.push(fault([...path, name], `${nameOf([...written(path), name])} has a wrong value`));
      else read.push([name, walk(valueType, item, [...path, name])]);
    }
    return Object.fromEntries(read);
  }

  function mapping({ shape = {}, catchall }: Def, value: Record<string, unknown>, path: Path): unknown {
    const read = new Map<string, unknown>();
    for (const [name, schema] of Object.entries(shape)) {
      const hint = ABOUT.get(schema)?.hint;
      if (hint !== undefined) hints.set(joined([...path, name]), hint);
    }
    const isLoose = catchall !== undefined && catchall._zod.def.type !== 'never';
    const exactFirst = Object.entries(value).toSorted(([a], [b]) => isIn(shape, b) - isIn(shape, a));
    for (const [key, item] of exactFirst) {
      const name = nameIn(shape, key, isLoose);
      if (name === undefined) {
        if (isLoose) read.set(key, item);
        else if (catchall === undefined) ignored.push(ignoredKey(path, key));
        else faults.push(unknownKey(path, key, shape));
      } else if (item !== null || accepts(shape[name]!, null)) {
        const at = [...path, name];
        if (read.has(name)) {
          faults.push(duplicate([...path, key], String(written(at).at(-1))));
          continue;
        }
        if (name !== key) keys.set(joined(at), key);
        read.set(name, walk(shape[name]!, item, at));
      }
    }
    return Object.fromEntries(read);
  }

  function ignoredKey(path: Path, key: string): Fault {
    const message = `the key ${nameOf([...written(path), key])} has no meaning here and is ignored`;
    return fault([...path, key], message, { code: 'unknown_key', side: 'key' });
  }

  function unknownKey(path: Path, key: string, shape: Record<string, Schema>): Fault {
    const known = Object.keys(shape).filter((name) => optionFor(shape[name]!, undefined)._zod.def.type !== 'never');
    const meant = nearest(key, known);
    const hint = meant === undefined ? `known here: ${known.join(', ')}` : `did you mean "${meant}"?`;
    const message = `unknown key ${nameOf([...written(path), key])}`;
    return fault([...path, key], message, { code: 'unknown_key', side: 'key', hint, meant });
  }
}

/** The few properties of zod's definitions that a value is compared with. */
interface Def {
  type: string;
  innerType?: Schema;
  options?: readonly Schema[];
  element?: Schema;
  valueType?: Schema;
  shape?: Record<string, Schema>;
  catchall?: Schema;
  entries?: Record<string, string>;
}

/** The alternative of a schema that this kind of value can match, if any does. */
function optionFor(schema: Schema, value: unknown): Schema {
  const def = schema._zod.def as Def;
  if (def.innerType !== undefined) return optionFor(def.innerType, value);
  if (def.options === undefined) return schema;
  const kinds = Array.isArray(value) ? ['array'] : isMapping(value) ? ['object', 'record'] : ['enum'];
  const options = def.options.map((option) => optionFor(option, value));
  return options.find((option) => kinds.includes(option._zod.def.type)) ?? schema;
}

function accepts(schema: Schema, value: unknown): boolean {
  return schema.safeParse(value).success;
}

function isIn(shape: Record<string, Schema>, key: string): number {
  return Object.hasOwn(shape, key) ? 1 : 0;
}

/** The schema's spelling of this key. In records, camelCase keys are unknown keys and are kept. */
function nameIn(shape: Record<string, Schema>, key: string, isLoose: boolean): string | undefined {
  if (Object.hasOwn(shape, key)) return key;
  const isKey = (name: string): boolean => name === key || (!isLoose && camelCase(name) === key);
  return Object.keys(shape).find((name) => [name, ...(ABOUT.get(shape[name]!)?.spellings ?? [])].some(isKey));
}

export function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Matches a word of an enum, ignoring case and separators. */
function word(words: readonly string[], value: string): string {
  const plain = (text: string): string => text.toLowerCase().replace(/[-_ ]/g, '');
  return words.find((each) => plain(each) === plain(value)) ?? value;
}

function duplicate(path: Path, first: string): Fault {
  const message = `"${String(path.at(-1))}" means the same as "${first}"`;
  return fault(path, message, { code: 'duplicate', side: 'key', hint: 'keep one of the two' });
}

function joined(path: Path): string {
  return path.join('\n');
}
