/** Reads JSON of unknown shape without casts: requests of clients are checked, never trusted. */
import { isMapping } from '../../../../domain/mapping.js';

export type Json = { readonly [key: string]: unknown };
/** The entries of a list that are objects; anything else counts as an empty list. */
export function objectsIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isMapping) : [];
}

export function objectOf(value: unknown): Json {
  return isMapping(value) ? value : {};
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** A copy without these fields, at every depth. */
export function without(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, fields));
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !fields.includes(key))
      .map(([key, inner]) => [key, without(inner, fields)]),
  );
}
