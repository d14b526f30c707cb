/** The cost of tokens. Dollars per million tokens are micro-dollars per token. */

/** US dollars per million tokens. */
interface Rates {
  input: number;
  output: number;
  cached?: number;
  /** Input that is written to the cache. */
  write?: number;
}

export interface Price extends Rates {
  /** The rates for the whole request if its input has more than `tokens` tokens. */
  above?: Rates & { tokens: number };
}

/** The price of a model for which nobody is billed. */
export const FREE: Price = { input: 0, output: 0 };

interface Tokens {
  inputTokens: number;
  outputTokens: number;
  /** Included in inputTokens. */
  cachedTokens: number;
  /** Also included in inputTokens. */
  writtenTokens?: number;
}

const SCALE = 1_000_000;

/**
 * Whole micro-dollars, halves rounded up. Computed with integers, because sums of floats would not
 * be exact. Prices have six decimals.
 */
export function costMicroUsd(price: Price, tokens: Tokens): number {
  const rates = ratesFor(price, tokens.inputTokens);
  const cached = Math.min(tokens.cachedTokens, tokens.inputTokens);
  const written = Math.min(tokens.writtenTokens ?? 0, tokens.inputTokens - cached);
  const sum =
    part(tokens.inputTokens - cached - written, rates.input) +
    part(cached, rates.cached ?? rates.input) +
    part(written, rates.write ?? rates.input) +
    part(tokens.outputTokens, rates.output);
  return Number((sum + BigInt(SCALE / 2)) / BigInt(SCALE));
}

export function ratesFor(price: Price, inputTokens: number): Rates {
  return price.above && inputTokens > price.above.tokens ? price.above : price;
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
