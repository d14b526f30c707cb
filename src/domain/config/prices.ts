/**
 * The price of a model: from `guild.yaml`, else from the list, else zero for a model on this
 * machine.
 */
import type { Env } from './env.js';
import { FREE, findPrice, type Price } from '../budget/price.js';
import { listPrices } from '../budget/list-prices.js';
import type { Config } from './config.js';
import { baseUrlIn, findProvider, isLoopback, splitModel } from './providers.js';

/** Undefined: the price is not known. */
export function priceOf(
  model: string,
  config: Pick<Config, 'providers' | 'prices'>,
  env: Env,
  day: Date,
): Price | undefined {
  // A list price also applies to a server on this machine, because it may be a gateway.
  const known = findPrice(model, config.prices, listPrices(day));
  if (known !== undefined) return known;
  const provider = findProvider(splitModel(model)?.provider ?? '', config.providers);
  if (provider?.kind === 'scripted') return FREE;
  const address = provider && (provider.baseUrl ?? baseUrlIn(env, provider.kind));
  return address !== undefined && isLoopback(address) ? FREE : undefined;
}
