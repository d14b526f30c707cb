/** The AI SDK's model object of a provider. Its package is loaded at first use. */
import type { Env } from '../../../domain/config/env.js';
import type { Provider } from '../../../domain/config/config.js';
import { speaksResponses, type Endpoint } from './endpoint.js';
import type { LanguageModel } from './prompt/types.js';
import { isVendorKind, vendorModel } from './vendors.js';

export async function createModel(
  id: string,
  provider: Provider,
  endpoint: Endpoint,
  fetch: typeof globalThis.fetch,
  env: Env = {},
): Promise<LanguageModel> {
  const { kind, headers } = provider;
  if (isVendorKind(kind)) return vendorModel(id, { kind, headers, endpoint, env, fetch });
  const base = { fetch, headers, baseURL: endpoint.baseUrl || undefined };
  const apiKey = endpoint.key ?? 'none';
  switch (kind) {
    case 'anthropic':
      return (await import('#ai-sdk/anthropic')).createAnthropic({
        ...base,
        ...(endpoint.isBearer ? { authToken: apiKey } : { apiKey }),
      })(id);
    case 'google':
      return (await import('#ai-sdk/google')).createGoogleGenerativeAI({ ...base, apiKey })(id);
    case 'openai': {
      const openai = (await import('#ai-sdk/openai')).createOpenAI({ ...base, apiKey });
      return speaksResponses(provider, endpoint) ? openai(id) : openai.chat(id);
    }
    default:
      throw new Error(`no AI SDK package supports the provider kind ${kind}`);
  }
}
