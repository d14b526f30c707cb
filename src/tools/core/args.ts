/**
 * Checks a model's arguments against a tool's schema, strictly and without coercion. A model
 * corrects itself from one clear sentence; a guessed value would hide the mistake.
 */
import { isMapping } from '../../domain/mapping.js';
import type { JsonSchema } from '../../ports/model.js';

/** Undefined if `args` fit; else one sentence for the model. */
export function checkArgs(schema: JsonSchema, args: unknown): string | undefined {
  const wrong = check(schema, args, '');
  if (wrong === undefined) return undefined;
  const names = Object.keys(schema.properties ?? {});
  const wanted = names.map(
    (name) => `${name}${schema.required?.includes(name) ? '' : '?'}: ${typeWord(schema.properties![name]!)}`,
  );
  return names.length === 0
    ? `${wrong}; this tool takes no arguments, send {}`
    : `${wrong}; send {${wanted.join(', ')}}`;
}

/** Checks any value. `whole`: the name of the value in messages. */
export function checkValue(schema: JsonSchema, value: unknown, whole: string): string | undefined {
  return check(schema, value, '', whole);
}

function check(schema: JsonSchema, value: unknown, at: string, whole = 'the arguments'): string | undefined {
  const name = at === '' ? whole : at;
  if (schema.alsoObject && fits('object', value)) return undefined;
  if (!fits(schema.type, value)) return `${name} must be ${typeWord(schema)}, not ${kindWord(value)}`;
  if (typeof value === 'string') return checkText(schema, value, name);
  if (typeof value === 'number') return checkNumber(schema, value, name);
  if (Array.isArray(value)) return firstWrong(value.map((item, i) => () => checkItem(schema, item, `${at}[${i}]`)));
  if (schema.type === 'object') return checkObject(schema, value as Record<string, unknown>, at);
  return undefined;
}

function checkText(schema: JsonSchema, value: string, name: string): string | undefined {
  if (schema.enum && !schema.enum.includes(value)) {
    return `${name} must be one of ${schema.enum.join(', ')}, not ${JSON.stringify(value.slice(0, 60))}`;
  }
  return undefined;
}

function checkNumber(schema: JsonSchema, value: number, name: string): string | undefined {
  if (schema.minimum !== undefined && value < schema.minimum) return `${name} must be at least ${schema.minimum}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `${name} must be at most ${schema.maximum}`;
  return undefined;
}

function checkItem(schema: JsonSchema, item: unknown, at: string): string | undefined {
  return schema.items === undefined ? undefined : check(schema.items, item, at);
}

function checkObject(schema: JsonSchema, value: Record<string, unknown>, at: string): string | undefined {
  const properties = schema.properties ?? {};
  const known = (key: string): boolean => Object.hasOwn(properties, key);
  const path = (key: string): string => (at === '' ? key : `${at}.${key}`);
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key) || value[key] === undefined) return `${path(key)} is missing`;
  }
  // Unknown names are refused unless the schema says otherwise: they are usually misspelled.
  const stray = schema.additionalProperties === true ? undefined : Object.keys(value).find((key) => !known(key));
  if (stray !== undefined) return `${path(stray)} is not an argument of this tool`;
  const present = Object.keys(value).filter((key) => known(key) && value[key] !== undefined);
  return firstWrong(present.map((key) => () => check(properties[key]!, value[key], path(key))));
}

function fits(type: JsonSchema['type'], value: unknown): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isMapping(value);
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'number') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === type;
}

function typeWord(schema: JsonSchema): string {
  if (schema.type === 'string') return 'a text';
  if (schema.type === 'integer') return 'a whole number';
  if (schema.type === 'number') return 'a number';
  if (schema.type === 'boolean') return 'true or false';
  if (schema.type === 'array') return schema.items ? `a list, each item ${typeWord(schema.items)}` : 'a list';
  return 'an object';
}

function kindWord(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return `the number ${value}`;
  if (typeof value === 'boolean') return String(value);
  return 'an object';
}

function firstWrong(checks: (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const wrong = check();
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}
