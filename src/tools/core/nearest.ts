/** Names that somebody who wrote `wanted` may have meant, best first. */
export function nearest(wanted: string, names: readonly string[], limit = 3): string[] {
  const word = wanted.toLowerCase();
  return names
    .map((name) => ({ name, far: distance(word, name.toLowerCase()) }))
    .filter(
      ({ name, far }) => far <= Math.max(1, Math.floor(Math.max(word.length, name.length) / 3)) || starts(word, name),
    )
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name);
}

/** The same name with another ending counts as near, however long the ending. */
function starts(word: string, name: string): boolean {
  const stem = word.replace(/\.[a-z0-9]+$/, '');
  return stem.length >= 3 && name.toLowerCase().startsWith(stem);
}

/** Edits that turn one text into the other; texts are cut at 100 characters, so the cost is bounded. */
function distance(a: string, b: string): number {
  const [from, to] = [a.slice(0, 100), b.slice(0, 100)];
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
