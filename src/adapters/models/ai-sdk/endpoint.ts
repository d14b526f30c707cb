/** A provider's address and key, from `guild.yaml` and the environment. */
import type { Env } from '../../../domain/config/env.js';
import type { Provider } from '../../../domain/config/config.js';
import { USUAL_KEYS } from '../../../domain/config/key-hosts.js';
import { baseUrlIn, isLoopback } from '../../../domain/config/providers.js';

export interface Endpoint {
  key?: string;
  /** The key is a token for the header Authorization, as gateways for Claude Code want it. */
  isBearer: boolean;
  /** Name of the environment variable with the key. */
  keyEnv?: string;
  /** No key is needed: a server on this machine, or one configured without a key. */
  keyless: boolean;
  /** The variable that is not set, if there is neither a key nor a substitute for one. */
  missing: string;
  baseUrl?: string;
  /** The base URL is on this machine. */
  local: boolean;
  address: string;
}

/** Instead of a key: signed requests, or the credentials that Google's own tools left. */
const WITHOUT_KEY: Partial<Record<Provider['kind'], { variable: string; missing: string }>> = {
  bedrock: {
    variable: 'AWS_ACCESS_KEY_ID',
    missing: 'neither AWS_BEARER_TOKEN_BEDROCK nor AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are set',
  },
  vertex: {
    variable: 'GOOGLE_VERTEX_PROJECT',
    missing: 'neither GOOGLE_VERTEX_PROJECT and GOOGLE_VERTEX_LOCATION nor GOOGLE_VERTEX_API_KEY are set',
  },
};

export function endpointOf(provider: Provider, env: Env): Endpoint {
  const keyEnv = provider.keyEnv ?? USUAL_KEYS[provider.kind];
  const key =
    (keyEnv && env[keyEnv]) || (keyEnv === 'GOOGLE_GENERATIVE_AI_API_KEY' && env['GEMINI_API_KEY']) || undefined;
  const token =
    provider.keyEnv === undefined || keyEnv === 'ANTHROPIC_API_KEY' ? env['ANTHROPIC_AUTH_TOKEN'] : undefined;
  const bearer = provider.kind === 'anthropic' && key === undefined ? token : undefined;
  const baseUrl = (provider.baseUrl ?? baseUrlIn(env, provider.kind))?.replace(/\/+$/, '');
  const other = WITHOUT_KEY[provider.kind];
  const local = baseUrl !== undefined && isLoopback(baseUrl);
  return {
    key: key ?? bearer,
    isBearer: bearer !== undefined,
    keyEnv,
    keyless:
      (baseUrl !== undefined && (local || provider.keyEnv === undefined)) || Boolean(other && env[other.variable]),
    missing: other?.missing ?? `${keyEnv} is not set`,
    local,
    baseUrl,
    address: baseUrl ? plainAddress(baseUrl) : 'its own address',
  };
}

/** OpenAI itself has the Responses API; other addresses have it only if guild.yaml says so. */
export function speaksResponses(provider: Provider, endpoint: Endpoint): boolean {
  return provider.kind === 'openai' && (endpoint.baseUrl === undefined || provider.api === 'responses');
}

function plainAddress(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '');
}
