/** How a tree is drawn with letters: what stands before each line. */
interface Stem {
  /** Before the line itself. */
  first: string;
  /** Before what is said about it in further lines. */
  rest: string;
}

/** `levels`: how deep each line stands, parents before their children. Walked backwards, so each is looked at once. */
export function stemsOf(levels: readonly number[]): Stem[] {
  const goesOn: boolean[] = [];
  const stems = levels.map((): Stem => ({ first: '', rest: '' }));
  for (let i = levels.length - 1; i >= 0; i--) {
    const level = levels[i]!;
    goesOn.length = level + 1;
    const above = Array.from({ length: Math.max(0, level - 1) }, (_, d) => (goesOn[d + 1] ? '│  ' : '   ')).join('');
    const hasChildren = (levels[i + 1] ?? 0) > level;
    const under = hasChildren ? '│  ' : '   ';
    stems[i] =
      level === 0
        ? { first: '', rest: under }
        : {
            first: `${above}${goesOn[level] ? '├─ ' : '└─ '}`,
            rest: `${above}${goesOn[level] ? '│  ' : '   '}${under}`,
          };
    goesOn[level] = true;
  }
  return stems;
}
