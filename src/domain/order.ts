/** The order of texts by their characters: the same on every machine, and without the tables of languages, which take 10 ms to load. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
