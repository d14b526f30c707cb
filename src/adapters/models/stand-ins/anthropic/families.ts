/** Differences between Claude models. An unknown Claude has the rules of the newest family. */

export interface Family {
  window: number;
  output: number;
  /** Accepts temperature, top_p and top_k. */
  sampling: boolean;
  thinking: 'always' | 'adaptive' | 'both' | 'budget';
  /** Accepts `thinking: disabled`; `high`: up to that effort. */
  disable: boolean | 'high';
  betweenTools: boolean;
  /** Accepts a forced tool. */
  forced: boolean;
  /** Thoughts are bound to the conversation before them. */
  bound: boolean;
  /** Accepts a last message from the assistant. */
  prefill: boolean;
  systemInside: boolean;
  /** Fewer tokens are not cached. */
  cacheMinimum: number;
  /** Reads thoughts of families with a smaller or the same rank. */
  rank: number;
}

const NEWEST: Family = {
  window: 1_000_000,
  output: 128_000,
  sampling: false,
  thinking: 'always',
  disable: false,
  betweenTools: false,
  forced: false,
  bound: true,
  prefill: false,
  systemInside: true,
  cacheMinimum: 512,
  rank: 5,
};
const FIVE: Family = {
  ...NEWEST,
  thinking: 'adaptive',
  disable: true,
  forced: true,
  bound: false,
  systemInside: false,
  rank: 3,
};
const FOUR_SIX: Family = { ...FIVE, sampling: true, thinking: 'both', cacheMinimum: 4096, rank: 2 };
const OLD: Family = { ...FOUR_SIX, window: 200_000, output: 64_000, thinking: 'budget', prefill: true, rank: 1 };

const FAMILIES: readonly [RegExp, Family][] = [
  [/^claude-fable-5-[12]/, { ...NEWEST, rank: 6 }],
  [/^claude-sonnet-5-5/, { ...NEWEST, betweenTools: true }],
  [/^claude-haiku-5-5/, { ...NEWEST, thinking: 'adaptive', disable: 'high', forced: true }],
  [/^claude-opus-5-5/, NEWEST],
  [/^claude-fable-5/, { ...FIVE, thinking: 'always', disable: false }],
  [/^claude-opus-5/, { ...FIVE, disable: 'high' }],
  [/^claude-(sonnet-5|opus-4-[78])/, { ...FIVE, cacheMinimum: 1024 }],
  [/^claude-sonnet-4-6/, { ...FOUR_SIX, cacheMinimum: 1024 }],
  [/^claude-opus-4-6/, FOUR_SIX],
  [/^claude-(haiku|opus)-4-5/, OLD],
  [/^claude-(sonnet-4|opus-4|3)/, { ...OLD, cacheMinimum: 1024 }],
  [/^claude-/, NEWEST],
];

export function familyOf(model: string): Family | undefined {
  return FAMILIES.find(([name]) => name.test(model))?.[1];
}
