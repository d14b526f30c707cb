/** The known name that a mistyped one most likely meant: few edits, or the same letters in another case or joint. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const plain = fold(name);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of known) {
    const distance = edits(plain, fold(candidate), least);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** `did you mean "x"?`, or what else could be said. */
export function nearestHint(name: string, known: Iterable<string>, otherwise?: string): string | undefined {
  const meant = nearest(name, known);
  return meant === undefined ? otherwise : `did you mean "${meant}"?`;
}

function fold(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[-_ .]/g, '');
}

/** Edit distance with neighbours swapped counted as one edit; `limit` once it is reached, because no more is asked. */
function edits(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return Math.min(last[b.length]!, limit);
}
