/** Differences between Gemini models. An unknown Gemini has the rules of the newest family. */

export interface Family {
  /** Signatures are required. */
  signs: boolean;
  callIds: boolean;
  levels: readonly string[];
  /** Accepts thinkingBudget. */
  budget: boolean;
  window: number;
  /** Fewer tokens are not cached. */
  cacheMinimum: number;
}

const FOUR: Family = {
  signs: true,
  callIds: true,
  levels: ['low', 'medium', 'high'],
  budget: false,
  window: 1_048_576,
  cacheMinimum: 4096,
};
const THREE: Family = { ...FOUR, callIds: false, budget: true };

const FAMILIES: readonly [RegExp, Family][] = [
  [/^gemini-4-argon/, { ...FOUR, cacheMinimum: 6144 }],
  [/^gemini-3.*flash/, { ...THREE, levels: ['minimal', ...FOUR.levels] }],
  [/^gemini-3/, THREE],
  [/^gemini-[12]/, { ...THREE, signs: false, levels: [] }],
  [/^gemini-/, FOUR],
];

export function familyOf(model: string): Family | undefined {
  return FAMILIES.find(([name]) => name.test(model))?.[1];
}
