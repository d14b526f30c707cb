/** Finds the known names closest to a mistyped one, ignoring case and separators. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  return nearestFew(name, known, 1)[0];
}

/** The best first. */
export function nearestFew(name: string, known: Iterable<string>, limit: number): string[] {
  const plain = fold(name);
  const beyond = Math.max(1, Math.floor(plain.length / 3)) + 1;
  return [...known]
    .map((candidate) => ({ candidate, distance: edits(plain, fold(candidate), beyond) }))
    .filter(({ distance }) => distance < beyond)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** `did you mean "x"?`, or `otherwise` if no name is close. */
export function nearestHint(name: string, known: Iterable<string>, otherwise?: string): string | undefined {
  const match = nearest(name, known);
  return match === undefined ? otherwise : `did you mean "${match}"?`;
}

/**
 * The message for an unknown agent, with the closest name and a list of all. `choices` replaces the
 * list. A name that a model invented may be any text, so an odd one is quoted.
 */
export function noAgent(name: string, known: Iterable<string>, choices?: string): string {
  const names = [...known].sort();
  const shown = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name);
  const meant = nearest(name, names);
  const guess = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return `there is no agent ${shown}${guess}; ${choices ?? `the agents are: ${names.join(', ') || 'none'}`}`;
}

function fold(name: string): string {
  return name
    .slice(0, 100)
    .toLowerCase()
    .replace(/[-_ .]/g, '');
}

/** Edit distance, with two swapped neighbours as one edit. Returns `limit` once it is reached. */
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
