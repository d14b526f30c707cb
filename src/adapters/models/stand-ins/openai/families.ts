/** Differences between OpenAI's models. An unknown model has the rules of the newest family. */

export interface Family {
  name: string;
  /** Input tokens. */
  window: number;
  /** Accepted reasoning efforts; empty: the model does not reason. */
  efforts: readonly string[];
  /** The effort of a request that does not set one. */
  effort: string;
  /** Tools in chat completions: always, only without reasoning, or never. */
  chatTools: 'always' | 'unless-reasoning' | 'never';
  /** Accepts prompt_cache_options and prompt_cache_breakpoint, and reports cache writes. */
  explicitCache: boolean;
}

const SIX: Family = {
  name: 'gpt-6',
  window: 922_000,
  efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  effort: 'medium',
  chatTools: 'unless-reasoning',
  explicitCache: true,
};
const ONLY_RESPONSES: Family = { ...SIX, name: 'gpt-6.1', efforts: SIX.efforts.slice(1), chatTools: 'never' };
const FIVE: Family = {
  name: 'gpt-5',
  window: 272_000,
  efforts: ['minimal', 'low', 'medium', 'high'],
  effort: 'medium',
  chatTools: 'always',
  explicitCache: false,
};

const FIVE_ONE: Family = { ...FIVE, name: 'gpt-5.1', efforts: ['none', 'low', 'medium', 'high', 'xhigh'] };

const FAMILIES: readonly [RegExp, Family][] = [
  [/^gpt-6-astra/, { ...ONLY_RESPONSES, name: 'gpt-6-astra' }],
  [/^gpt-6\.1-sol/, ONLY_RESPONSES],
  [/^gpt-6/, SIX],
  [
    /^gpt-5\.[6-9]/,
    { ...FIVE_ONE, name: 'gpt-5.6', window: 922_000, chatTools: 'unless-reasoning', explicitCache: true },
  ],
  [/^gpt-5\.[45]/, { ...FIVE_ONE, name: 'gpt-5.4', chatTools: 'unless-reasoning' }],
  [/^gpt-5\./, FIVE_ONE],
  [/^gpt-5/, FIVE],
  [/^o[134]/, { ...FIVE, name: 'o', window: 200_000, efforts: ['low', 'medium', 'high'] }],
  [/^(gpt-[34]|chatgpt)/, { ...FIVE, name: 'gpt-4', window: 128_000, efforts: [], effort: 'none' }],
  [/^gpt-/, ONLY_RESPONSES],
];

export function familyOf(model: string): Family | undefined {
  return FAMILIES.find(([name]) => name.test(model))?.[1];
}

export function reasons(family: Family, effort: unknown): boolean {
  return family.efforts.length > 0 && (effort ?? family.effort) !== 'none';
}
