/** What precedes the lines of one node in a tree drawn as text. */
interface Stem {
  first: string;
  /** The prefix of further lines about the same node. */
  rest: string;
}

/** `levels`: the depth of each line, parents before their children. One pass, from the end. */
export function stemsOf(levels: readonly number[]): Stem[] {
  const hasNext: boolean[] = [];
  const stems = levels.map((): Stem => ({ first: '', rest: '' }));
  for (let i = levels.length - 1; i >= 0; i--) {
    const level = levels[i]!;
    hasNext.length = level + 1;
    const above = Array.from({ length: Math.max(0, level - 1) }, (_, d) => (hasNext[d + 1] ? '│  ' : '   ')).join('');
    const hasChildren = (levels[i + 1] ?? 0) > level;
    const under = hasChildren ? '│  ' : '   ';
    stems[i] =
      level === 0
        ? { first: '', rest: under }
        : {
            first: `${above}${hasNext[level] ? '├─ ' : '└─ '}`,
            rest: `${above}${hasNext[level] ? '│  ' : '   '}${under}`,
          };
    hasNext[level] = true;
  }
  return stems;
}
