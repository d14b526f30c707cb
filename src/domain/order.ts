/**
 * Orders texts by code unit: the same on every machine, and without locale data, which takes 10 ms
 * to load.
 */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
