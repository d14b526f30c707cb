/**
 * The providers that need no entry in `guild.yaml`. An entry with the same name replaces the
 * built-in one.
 */
import type { Provider } from './config.js';
import type { Env } from './env.js';

const BUILT_IN_PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { kind: 'openai', keyEnv: 'OPENAI_API_KEY' },
  anthropic: { kind: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY' },
  google: { kind: 'google', keyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  openrouter: { kind: 'openrouter', keyEnv: 'OPENROUTER_API_KEY' },
  groq: { kind: 'groq', keyEnv: 'GROQ_API_KEY' },
  mistral: { kind: 'mistral', keyEnv: 'MISTRAL_API_KEY' },
  deepseek: { kind: 'deepseek', keyEnv: 'DEEPSEEK_API_KEY' },
  azure: { kind: 'azure', keyEnv: 'AZURE_API_KEY' },
  bedrock: { kind: 'bedrock', keyEnv: 'AWS_BEARER_TOKEN_BEDROCK' },
  vertex: { kind: 'vertex', keyEnv: 'GOOGLE_VERTEX_API_KEY' },
  xai: { kind: 'xai', keyEnv: 'XAI_API_KEY' },
  ollama: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' },
  lmstudio: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:8000/v1' },
  scripted: { kind: 'scripted', script: 'script.yaml' },
};

/** The provider with this name. Providers of the workspace come before the built-in ones. */
export function findProvider(name: string, providers: Readonly<Record<string, Provider>>): Provider | undefined {
  if (Object.hasOwn(providers, name)) return providers[name];
  return Object.hasOwn(BUILT_IN_PROVIDERS, name) ? BUILT_IN_PROVIDERS[name] : undefined;
}

export function providerNames(providers: Readonly<Record<string, Provider>>): string[] {
  return [...new Set([...Object.keys(providers), ...Object.keys(BUILT_IN_PROVIDERS)])];
}

/** Splits `provider/model`; the model may contain slashes. */
export function splitModel(name: string): { provider: string; model: string } | undefined {
  const slash = name.indexOf('/');
  return slash <= 0 || slash === name.length - 1
    ? undefined
    : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

/**
 * Addresses in the variables of the vendors' own tools have no version; those of the AI SDK have
 * one. Both are accepted.
 */
export function baseUrlIn(env: Env, kind: Provider['kind']): string | undefined {
  const versioned = (address: string | undefined, version: string) =>
    address && !/\/v\d\w*\/*$/.test(address) ? `${address.replace(/\/+$/, '')}/${version}` : address;
  if (kind === 'anthropic') return versioned(env['ANTHROPIC_BASE_URL'], 'v1');
  if (kind === 'google')
    return env['GOOGLE_GENERATIVE_AI_BASE_URL'] ?? versioned(env['GOOGLE_GEMINI_BASE_URL'], 'v1beta');
  return kind === 'openai' ? env['OPENAI_BASE_URL'] : undefined;
}

export function isLoopback(address: string): boolean {
  return /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])([:/]|$)/i.test(address);
}
