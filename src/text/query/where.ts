/**
 * Evaluates conditions with two-valued logic: `!=` is exactly the opposite of `=`, even for a
 * missing field. Numbers compare as numbers; everything else, including ISO dates, compares as
 * text.
 */
import { fitsPattern } from '../../domain/wildcard.js';
import type { Compare, Row, Where } from './ast.js';

/** Fields for which a missing value means false, and false counts as null. */
const FLAGS = new Set(['completed', 'skipped', 'in_progress']);

export function evaluate(where: Where, row: Row): boolean {
  switch (where.kind) {
    case 'and':
      return where.parts.every((part) => evaluate(part, row));
    case 'or':
      return where.parts.some((part) => evaluate(part, row));
    case 'not':
      return !evaluate(where.part, row);
    case 'null': {
      const value = fieldValue(row, where.field);
      return value === undefined || value === null || (FLAGS.has(where.field) && value === false);
    }
    case 'in': {
      const value = valueOf(row, where.field);
      return where.values.some((candidate) => isEqual(value, candidate));
    }
    case 'compare':
      return compare(valueOf(row, where.field), where.op, where.value);
  }
}

/** False if no row with these values of these columns can match, whatever its other values are. */
export function canMatch(where: Where, known: Row): boolean {
  return verdict(where, known) !== false;
}

/** Undefined: it depends on other columns. */
function verdict(where: Where, known: Row): boolean | undefined {
  if (where.kind === 'not') {
    const part = verdict(where.part, known);
    return part === undefined ? undefined : !part;
  }
  if (where.kind === 'and' || where.kind === 'or') {
    const parts = where.parts.map((part) => verdict(part, known));
    const decisive = where.kind === 'or';
    return parts.includes(decisive) ? decisive : parts.includes(undefined) ? undefined : !decisive;
  }
  return Object.hasOwn(known, where.field) ? evaluate(where, known) : undefined;
}

export function fieldsOf(where: Where | undefined): string[] {
  if (!where) return [];
  if (where.kind === 'and' || where.kind === 'or') return where.parts.flatMap(fieldsOf);
  if (where.kind === 'not') return fieldsOf(where.part);
  return [where.field];
}

/** A field's value: of the field named `a.b`, or else of `b` in the object `a`. */
export function fieldValue(row: Row, field: string): unknown {
  if (Object.hasOwn(row, field)) return row[field];
  let value: unknown = row;
  if (!field.includes('.')) return undefined;
  for (const part of field.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Row)[part];
  }
  return value;
}

/** Missing first, then false, true, numbers, text. */
export function compareForOrder(a: unknown, b: unknown): number {
  const ranks = rank(a) - rank(b);
  if (ranks !== 0) return ranks;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [asText(a), asText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function valueOf(row: Row, field: string): unknown {
  const value = fieldValue(row, field);
  return (value === undefined || value === null) && FLAGS.has(field) ? false : value;
}

function compare(value: unknown, op: Compare, operand: string | number | boolean): boolean {
  if (op === '=') return isEqual(value, operand);
  if (op === '!=') return !isEqual(value, operand);
  if (value === undefined || value === null) return false;
  if (op === 'contains') {
    return Array.isArray(value)
      ? value.some((candidate) => isEqual(candidate, operand))
      : asText(value).includes(String(operand));
  }
  if (op === 'like') {
    const values = Array.isArray(value) ? value.map(asText) : [asText(value)];
    return values.some((text) => isLike(text.toLowerCase(), String(operand).toLowerCase()));
  }
  const order = orderOf(value, operand);
  if (op === '<') return order < 0;
  if (op === '<=') return order <= 0;
  return op === '>' ? order > 0 : order >= 0;
}

function isEqual(value: unknown, operand: string | number | boolean): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'number' || typeof operand === 'number') {
    const [left, right] = [asNumber(value), asNumber(operand)];
    if (left !== undefined && right !== undefined) return left === right;
  }
  return asText(value) === String(operand);
}

function orderOf(value: unknown, operand: string | number | boolean): number {
  const [left, right] = [asNumber(value), asNumber(operand)];
  if ((typeof value === 'number' || typeof operand === 'number') && left !== undefined && right !== undefined) {
    return left - right;
  }
  const [a, b] = [asText(value), String(operand)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(asText).join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function rank(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'boolean') return 1;
  return typeof value === 'number' ? 2 : 3;
}

/** `%` matches any text, `_` any character; `\` escapes the next character. */
function isLike(text: string, pattern: string): boolean {
  const parts: (string | { wild: '%' | '_' })[] = [];
  const chars = Array.from(pattern);
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === '\\' && i + 1 < chars.length) parts.push(chars[++i]!);
    else parts.push(char === '%' || char === '_' ? { wild: char } : char);
  }
  return fitsPattern(parts, Array.from(text), {
    isMany: (part) => typeof part === 'object' && part.wild === '%',
    isOne: (part, char) => part === char || (typeof part === 'object' && part.wild === '_'),
  });
}
