/**
 * A limit on nesting, for values from outside: a model's arguments, a plugin's result. A value that
 * is nested thousands of levels deep is valid JSON and overflows the stack of everything that walks
 * it. The check itself does not recurse.
 */

/** Deeper than any tool needs, and far from every limit of the language and of the files. */
export const MAX_VALUE_DEPTH = 32;

export function isTooDeep(value: unknown, max = MAX_VALUE_DEPTH): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      if (depth >= max) return true;
      for (const field of Array.isArray(item) ? item : Object.values(item)) next.push(field);
    }
    level = next;
  }
  return false;
}
