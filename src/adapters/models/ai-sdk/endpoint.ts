/**
 * A provider's address and key, from `guild.yaml` and the environment; and its SDK model object.
 */
import type { Provider } from '../../../domain/config/config.js';
import type { LanguageModel } from './prompt.js';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  key?: string;
  /** Name of the environment variable with the key. */
  keyEnv?: string;
  /** No key is needed: a server on this machine, or one configured without a key. */
  keyless: boolean;
  baseUrl?: string;
  /** The base URL is on this machine. */
  local: boolean;
  address: string;
}

const VENDORS: Partial<Record<Provider['kind'], string>> = {
  openai: 'OPENAI',
  anthropic: 'ANTHROPIC',
  google: 'GOOGLE_GENERATIVE_AI',
};

export function endpointOf(provider: Provider, env: Env): Endpoint {
  const vendor = VENDORS[provider.kind];
  const keyEnv = provider.keyEnv ?? (vendor ? `${vendor}_API_KEY` : undefined);
  const key =
    (keyEnv && env[keyEnv]) || (keyEnv === 'GOOGLE_GENERATIVE_AI_API_KEY' && env['GEMINI_API_KEY']) || undefined;
  const baseUrl = (provider.baseUrl ?? (vendor ? env[`${vendor}_BASE_URL`] : undefined))?.replace(/\/+$/, '');
  const local = baseUrl !== undefined && isLoopback(baseUrl);
  return {
    key,
    keyEnv,
    keyless: baseUrl !== undefined && (local || provider.keyEnv === undefined),
    local,
    baseUrl,
    address: baseUrl ? plainAddress(baseUrl) : 'its own address',
  };
}

function isLoopback(address: string): boolean {
  return /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])([:/]|$)/i.test(address);
}

function plainAddress(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '');
}

export async function createModel(
  id: string,
  provider: Provider,
  endpoint: Endpoint,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModel> {
  const base = { fetch, headers: provider.headers, baseURL: endpoint.baseUrl || undefined };
  const apiKey = endpoint.key ?? 'none';
  switch (provider.kind) {
    case 'anthropic':
      return (await import('#ai-sdk/anthropic')).createAnthropic({ ...base, apiKey })(id);
    case 'google':
      return (await import('#ai-sdk/google')).createGoogleGenerativeAI({ ...base, apiKey })(id);
    case 'openai': {
      const openai = (await import('#ai-sdk/openai')).createOpenAI({ ...base, apiKey });
      // Only OpenAI itself has the Responses API; other addresses speak chat completions.
      return endpoint.baseUrl ? openai.chat(id) : openai(id);
    }
    default:
      throw new Error(`no AI SDK package supports the provider kind ${provider.kind}`);
  }
}
