/**
 * The providers that need no entry in `guild.yaml`. An entry with the same name replaces the
 * built-in one.
 */
import type { Provider } from './config.js';

const BUILT_IN_PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { kind: 'openai', keyEnv: 'OPENAI_API_KEY' },
  anthropic: { kind: 'anthropic', keyEnv: 'ANTHROPIC_API_KEY' },
  google: { kind: 'google', keyEnv: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  openrouter: { kind: 'openai-compatible', baseUrl: 'https://openrouter.ai/api/v1', keyEnv: 'OPENROUTER_API_KEY' },
  groq: { kind: 'openai-compatible', baseUrl: 'https://api.groq.com/openai/v1', keyEnv: 'GROQ_API_KEY' },
  mistral: { kind: 'openai-compatible', baseUrl: 'https://api.mistral.ai/v1', keyEnv: 'MISTRAL_API_KEY' },
  deepseek: { kind: 'openai-compatible', baseUrl: 'https://api.deepseek.com/v1', keyEnv: 'DEEPSEEK_API_KEY' },
  xai: { kind: 'openai-compatible', baseUrl: 'https://api.x.ai/v1', keyEnv: 'XAI_API_KEY' },
  ollama: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1' },
  lmstudio: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1234/v1' },
  vllm: { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:8000/v1' },
  scripted: { kind: 'scripted', script: 'script.yaml' },
};

/** The provider with this name; those of the workspace come before the built-in ones. */
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
