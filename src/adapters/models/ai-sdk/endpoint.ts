/**
 * A provider's address and key, from `guild.yaml` and the environment; and its SDK model object.
 */
import type { Provider } from '../../../domain/config/config.js';
import type { LanguageModel } from './prompt.js';

export type Env = Readonly<Record<string, string | undefined>>;

export interface Endpoint {
  key?: string;
  /** The key is a token for the header Authorization, as gateways for Claude Code want it. */
  isBearer: boolean;
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
  const token =
    provider.keyEnv === undefined || keyEnv === 'ANTHROPIC_API_KEY' ? env['ANTHROPIC_AUTH_TOKEN'] : undefined;
  const bearer = provider.kind === 'anthropic' && key === undefined ? token : undefined;
  const baseUrl = (provider.baseUrl ?? baseUrlIn(env, provider.kind))?.replace(/\/+$/, '');
  const local = baseUrl !== undefined && isLoopback(baseUrl);
  return {
    key: key ?? bearer,
    isBearer: bearer !== undefined,
    keyEnv,
    keyless: baseUrl !== undefined && (local || provider.keyEnv === undefined),
    local,
    baseUrl,
    address: baseUrl ? plainAddress(baseUrl) : 'its own address',
  };
}

/** OpenAI itself has the Responses API; other addresses have it only if guild.yaml says so. */
export function speaksResponses(provider: Provider, endpoint: Endpoint): boolean {
  return provider.kind === 'openai' && (endpoint.baseUrl === undefined || provider.api === 'responses');
}

/**
 * Addresses in the variables of the vendors' own tools have no version; those of the AI SDK have
 * one. Both are accepted.
 */
function baseUrlIn(env: Env, kind: Provider['kind']): string | undefined {
  const versioned = (address: string | undefined, version: string) =>
    address && !/\/v\d\w*\/*$/.test(address) ? `${address.replace(/\/+$/, '')}/${version}` : address;
  if (kind === 'anthropic') return versioned(env['ANTHROPIC_BASE_URL'], 'v1');
  if (kind === 'google')
    return env['GOOGLE_GENERATIVE_AI_BASE_URL'] ?? versioned(env['GOOGLE_GEMINI_BASE_URL'], 'v1beta');
  return kind === 'openai' ? env['OPENAI_BASE_URL'] : undefined;
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
      throw new Error(`no AI SDK package supports the provider kind ${provider.kind}`);
  }
}
