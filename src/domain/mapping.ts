/** Values of unknown origin, such as parsed JSON, as mappings. */
import { attempt } from './attempt.js';

/** True if a parsed value is an object, not an array or `null`. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that a JSON text contains; undefined for any other text. */
export function parseMapping(text: string): Record<string, unknown> | undefined {
  const value: unknown = attempt(() => JSON.parse(text));
  return isMapping(value) ? value : undefined;
}
