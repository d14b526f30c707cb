/**
 * List prices of well-known models, in dollars for a million tokens, as their makers published
 * them. Prices change: `prices` in `guild.yaml` wins. The cost of a model that is not here counts
 * as unknown: a guessed price is worse than none.
 */
import type { Price } from '../../../domain/budget/price.js';

export const LIST_PRICES: Readonly<Record<string, Price>> = {
  'openai/gpt-5': { input: 1.25, cached: 0.125, output: 10 },
  'openai/gpt-5-mini': { input: 0.25, cached: 0.025, output: 2 },
  'openai/gpt-5-nano': { input: 0.05, cached: 0.005, output: 0.4 },
  'openai/gpt-4.1': { input: 2, cached: 0.5, output: 8 },
  'openai/gpt-4.1-mini': { input: 0.4, cached: 0.1, output: 1.6 },
  'openai/gpt-4.1-nano': { input: 0.1, cached: 0.025, output: 0.4 },
  'openai/gpt-4o': { input: 2.5, cached: 1.25, output: 10 },
  'openai/gpt-4o-mini': { input: 0.15, cached: 0.075, output: 0.6 },
  'openai/o3': { input: 2, cached: 0.5, output: 8 },
  'openai/o4-mini': { input: 1.1, cached: 0.275, output: 4.4 },
  'anthropic/claude-opus-4-5': { input: 5, cached: 0.5, output: 25 },
  'anthropic/claude-opus-4-1': { input: 15, cached: 1.5, output: 75 },
  'anthropic/claude-sonnet-4-5': { input: 3, cached: 0.3, output: 15 },
  'anthropic/claude-sonnet-4-0': { input: 3, cached: 0.3, output: 15 },
  'anthropic/claude-haiku-4-5': { input: 1, cached: 0.1, output: 5 },
  'google/gemini-2.5-pro': { input: 1.25, cached: 0.125, output: 10 },
  'google/gemini-2.5-flash': { input: 0.3, cached: 0.03, output: 2.5 },
  'google/gemini-2.5-flash-lite': { input: 0.1, cached: 0.01, output: 0.4 },
};
