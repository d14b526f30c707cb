/** Whether a parsed value is an object of keys and values, neither a list nor `null`. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
