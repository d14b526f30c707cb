/** The cost of tokens. Dollars per million tokens are micro-dollars per token. */

/** US dollars per million tokens. */
export interface Price {
  input: number;
  output: number;
  cached?: number;
}

interface Tokens {
  inputTokens: number;
  outputTokens: number;
  /** Part of inputTokens. */
  cachedTokens: number;
}

const SCALE = 1_000_000;

/**
 * Whole micro-dollars, halves rounded up. Computed with integers, because sums of floats would not
 * be exact. Prices have six decimals.
 */
export function costMicroUsd(price: Price, tokens: Tokens): number {
  const cached = Math.min(tokens.cachedTokens, tokens.inputTokens);
  const sum =
    part(tokens.inputTokens - cached, price.input) +
    part(cached, price.cached ?? price.input) +
    part(tokens.outputTokens, price.output);
  return Number((sum + BigInt(SCALE / 2)) / BigInt(SCALE));
}

function part(tokens: number, price: number): bigint {
  return BigInt(Math.max(0, Math.round(tokens))) * BigInt(Math.round(price * SCALE));
}

/**
 * The price of `provider/model`: by its full name, without the provider, or without a date or
 * `-latest`.
 */
export function findPrice(name: string, ...tables: Readonly<Record<string, Price>>[]): Price | undefined {
  const undated = name.replace(/(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest)$/, '');
  for (const table of tables) {
    for (const key of [name, name.slice(name.indexOf('/') + 1), undated, undated.slice(undated.indexOf('/') + 1)]) {
      if (Object.hasOwn(table, key)) return table[key];
    }
  }
  return undefined;
}
