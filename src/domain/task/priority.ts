/** Priorities from A, the most urgent, to D, and the other words that people use for them. */
export const PRIORITIES = ['A', 'B', 'C', 'D'] as const;
type Priority = (typeof PRIORITIES)[number];

const WORDS: Record<string, Priority> = {
  ...{ a: 'A', b: 'B', c: 'C', d: 'D' },
  ...{ '1': 'A', '2': 'B', '3': 'C', '4': 'D' },
  ...{ p0: 'A', p1: 'A', p2: 'B', p3: 'C', p4: 'D' },
  ...{ critical: 'A', urgent: 'A', highest: 'A', high: 'B', normal: 'C', medium: 'C', low: 'D', lowest: 'D' },
};

export const PRIORITY_WORDS: readonly string[] = Object.keys(WORDS).slice(PRIORITIES.length);

export function readPriority(value: unknown): Priority | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const word = String(value).trim().toLowerCase();
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}
