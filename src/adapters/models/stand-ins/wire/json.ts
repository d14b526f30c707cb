/** Reads JSON of unknown shape without casts: requests of clients are checked, never trusted. */

export type Json = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The entries of a list that are objects; anything else counts as an empty list. */
export function objectsIn(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Undefined if the text is not a JSON object. */
export function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A copy without these fields, at every depth. */
export function without(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, fields));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !fields.includes(key))
      .map(([key, inner]) => [key, without(inner, fields)]),
  );
}
