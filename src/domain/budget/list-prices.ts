/**
 * List prices in dollars for a million tokens, as the makers published them, with the day on which
 * each was last compared with a source. Prices change: `prices` in `guild.yaml` wins. A model that
 * is not listed has no known price, because a guessed price is worse than none.
 */
import type { Price } from './price.js';

interface ListPrice extends Price {
  /** The first day of this price; without it, from the beginning. */
  from?: string;
  checked: string;
  /** Why it may differ from the bill. */
  note?: string;
}

const GPT6_LONG = 272_000;
const NOVEMBER = '2026-11-17';

const LIST: Readonly<Record<string, readonly ListPrice[]>> = {
  'openai/gpt-6-astra': gpt6({ input: 10, cached: 1, write: 12.5, output: 50 }),
  'openai/gpt-6.1-sol': gpt6({ input: 2, cached: 0.1, write: 2.5, output: 10 }),
  'openai/gpt-6-sol': gpt6({ input: 2, cached: 0.2, write: 2.5, output: 10 }),
  'openai/gpt-6.1-terra': gpt6({ input: 1, cached: 0.05, write: 1.25, output: 5 }),
  'openai/gpt-6-luna': gpt6({ input: 0.1, cached: 0.01, write: 0.125, output: 0.5 }),
  'openai/gpt-5.6-terra': [{ input: 2, cached: 0.2, output: 12, checked: NOVEMBER }],
  'openai/gpt-5.6-luna': [{ input: 0.2, cached: 0.02, output: 1.2, checked: NOVEMBER }],
  'openai/gpt-5.2': [{ input: 1.75, cached: 0.175, output: 14, checked: '2026-08-08' }],
  'openai/gpt-5': [{ input: 1.25, cached: 0.125, output: 10, checked: '2026-08-08' }],
  'openai/gpt-5-mini': [{ input: 0.25, cached: 0.025, output: 2, checked: '2026-08-08' }],
  'openai/gpt-5-nano': [{ input: 0.05, cached: 0.005, output: 0.4, checked: '2026-08-08' }],
  'openai/gpt-4.1': [{ input: 2, cached: 0.5, output: 8, checked: '2026-08-08' }],
  'openai/gpt-4.1-mini': [{ input: 0.4, cached: 0.1, output: 1.6, checked: '2026-08-08' }],
  'openai/gpt-4.1-nano': [{ input: 0.1, cached: 0.025, output: 0.4, checked: '2026-08-08' }],
  'openai/gpt-4o': [{ input: 2.5, cached: 1.25, output: 10, checked: '2026-08-08' }],
  'openai/gpt-4o-mini': [{ input: 0.15, cached: 0.075, output: 0.6, checked: '2026-08-08' }],
  'openai/o3': [{ input: 2, cached: 0.5, output: 8, checked: '2026-08-08' }],
  'openai/o4-mini': [{ input: 1.1, cached: 0.275, output: 4.4, checked: '2026-08-08' }],
  'anthropic/claude-fable-5-1': [{ input: 10, cached: 0.25, write: 12.5, output: 50, checked: NOVEMBER }],
  'anthropic/claude-opus-5-5': [{ input: 4, cached: 0.2, write: 5, output: 20, checked: NOVEMBER }],
  'anthropic/claude-sonnet-5-5': [{ input: 2, cached: 0.1, write: 2.5, output: 10, checked: NOVEMBER }],
  'anthropic/claude-haiku-5-5': [
    {
      input: 0.1,
      cached: 0.01,
      write: 0.125,
      output: 0.5,
      above: { tokens: 100_000, input: 0.5, cached: 0.05, write: 0.625, output: 2.5 },
      checked: NOVEMBER,
      note: 'the cache prices above 100,000 tokens follow the same ratio; no source lists them',
    },
  ],
  'anthropic/claude-opus-5': [{ input: 5, cached: 0.5, write: 6.25, output: 25, checked: NOVEMBER }],
  'anthropic/claude-sonnet-5': [{ input: 2, cached: 0.2, write: 2.5, output: 10, checked: NOVEMBER }],
  'anthropic/claude-opus-4-8': [{ input: 5, cached: 0.5, write: 6.25, output: 25, checked: NOVEMBER }],
  'anthropic/claude-opus-4-7': [{ input: 5, cached: 0.5, write: 6.25, output: 25, checked: NOVEMBER }],
  'anthropic/claude-opus-4-6': [{ input: 5, cached: 0.5, write: 6.25, output: 25, checked: NOVEMBER }],
  'anthropic/claude-opus-4-5': [{ input: 5, cached: 0.5, write: 6.25, output: 25, checked: NOVEMBER }],
  'anthropic/claude-sonnet-4-6': [{ input: 3, cached: 0.3, write: 3.75, output: 15, checked: NOVEMBER }],
  'anthropic/claude-sonnet-4-5': [{ input: 3, cached: 0.3, write: 3.75, output: 15, checked: NOVEMBER }],
  'anthropic/claude-haiku-4-5': [{ input: 1, cached: 0.1, write: 1.25, output: 5, checked: NOVEMBER }],
  'google/gemini-4-argon': gemini4(),
  'google/gemini-4-carbon': gemini4(),
  'google/gemini-3.8-flash': [
    { input: 0.75, cached: 0.075, output: 3.75, checked: '2026-10-07' },
    { from: '2027-01-01', input: 1.5, cached: 0.15, output: 7.5, checked: '2026-10-07' },
  ],
  'google/gemini-3.1-pro-preview': [{ input: 2, cached: 0.2, output: 12, checked: '2026-08-08' }],
  'google/gemini-2.5-pro': [{ input: 1.25, cached: 0.125, output: 10, checked: '2026-08-08' }],
  'google/gemini-2.5-flash': [{ input: 0.3, cached: 0.03, output: 2.5, checked: '2026-08-08' }],
  'google/gemini-2.5-flash-lite': [{ input: 0.1, cached: 0.01, output: 0.4, checked: '2026-08-08' }],
  'mistral/mistral-medium-3-5': [{ input: 1.5, output: 7.5, checked: '2026-08-08' }],
  'mistral/mistral-small-2603': [{ input: 0.06, output: 0.18, checked: '2026-08-08' }],
  'deepseek/deepseek-flash': [
    { input: 0.3, cached: 0.006, output: 1.2, checked: NOVEMBER, note: 'the peak price; half of it off-peak' },
  ],
  'deepseek/deepseek-v4-pro': [
    { input: 1.32, cached: 0.044, output: 3.96, checked: NOVEMBER, note: 'the peak price; half of it off-peak' },
  ],
  'xai/grok-4.5': [{ input: 2, cached: 0.5, output: 6, checked: '2026-08-08' }],
  'xai/grok-4.3': [{ input: 1.25, cached: 0.2, output: 2.5, checked: '2026-08-08' }],
  'groq/openai/gpt-oss-120b': [{ input: 0.15, cached: 0.075, output: 0.6, checked: '2026-08-08' }],
  'groq/openai/gpt-oss-20b': [{ input: 0.075, cached: 0.0375, output: 0.3, checked: '2026-08-08' }],
};

export function listPrices(day: Date): Readonly<Record<string, Price>> {
  const date = day.toISOString().slice(0, 10);
  let prices = byDay.get(date);
  if (prices === undefined) {
    prices = Object.fromEntries(
      Object.entries(LIST).map(([model, list]) => [model, list.findLast(({ from = '' }) => from <= date)!]),
    );
    byDay.clear();
    byDay.set(date, prices);
  }
  return prices;
}

/** Caches the prices of the last day that was asked for. */
const byDay = new Map<string, Readonly<Record<string, Price>>>();

/** Above 272,000 input tokens the whole request costs twice as much, its output 1.5 times. */
function gpt6(price: Required<Pick<Price, 'input' | 'cached' | 'write' | 'output'>>): ListPrice[] {
  const above = {
    tokens: GPT6_LONG,
    input: 2 * price.input,
    cached: 2 * price.cached,
    write: 2 * price.write,
    output: 1.5 * price.output,
  };
  return [{ ...price, above, checked: NOVEMBER }];
}

function gemini4(): ListPrice[] {
  return [
    { input: 2, cached: 0.1, output: 10, checked: NOVEMBER },
    { from: '2026-12-01', input: 4, cached: 0.2, output: 20, checked: NOVEMBER },
  ];
}
