/**
 * The hosts that well-known keys belong to. A workspace cannot send such a key anywhere else, even
 * if it is trusted; only the user's own settings can add a host.
 */
import { attempt } from '../attempt.js';
import type { Provider } from './config.js';

// Anybody can rent other hosts below amazonaws.com, azure.com and googleapis.com.
const BEDROCK = ['bedrock.*.amazonaws.com', 'bedrock-runtime.*.amazonaws.com', 'bedrock-runtime-fips.*.amazonaws.com'];
const VERTEX = ['aiplatform.googleapis.com', '*-aiplatform.googleapis.com'];

const HOSTS: Readonly<Record<string, readonly string[]>> = {
  OPENAI_API_KEY: ['api.openai.com'],
  ANTHROPIC_API_KEY: ['api.anthropic.com'],
  ANTHROPIC_AUTH_TOKEN: ['api.anthropic.com'],
  GOOGLE_GENERATIVE_AI_API_KEY: ['generativelanguage.googleapis.com'],
  GEMINI_API_KEY: ['generativelanguage.googleapis.com'],
  GOOGLE_VERTEX_API_KEY: VERTEX,
  OPENROUTER_API_KEY: ['openrouter.ai'],
  GROQ_API_KEY: ['api.groq.com'],
  MISTRAL_API_KEY: ['api.mistral.ai'],
  DEEPSEEK_API_KEY: ['api.deepseek.com'],
  XAI_API_KEY: ['api.x.ai'],
  AZURE_API_KEY: ['*.openai.azure.com', '*.cognitiveservices.azure.com', '*.services.ai.azure.com'],
  AWS_BEARER_TOKEN_BEDROCK: BEDROCK,
  AWS_ACCESS_KEY_ID: BEDROCK,
  AWS_SECRET_ACCESS_KEY: BEDROCK,
  AWS_SESSION_TOKEN: BEDROCK,
  GITHUB_TOKEN: ['api.github.com', 'models.github.ai'],
  GH_TOKEN: ['api.github.com', 'models.github.ai'],
  NPM_TOKEN: ['registry.npmjs.org'],
  SLACK_BOT_TOKEN: ['slack.com'],
  SLACK_APP_TOKEN: ['slack.com'],
};

/** The key that a provider of this kind uses if it names none. */
export const USUAL_KEYS: Partial<Record<Provider['kind'], string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  groq: 'GROQ_API_KEY',
  xai: 'XAI_API_KEY',
  azure: 'AZURE_API_KEY',
  bedrock: 'AWS_BEARER_TOKEN_BEDROCK',
  vertex: 'GOOGLE_VERTEX_API_KEY',
};

/** Providers of these kinds use credentials of the environment if the key they name is not set. */
const FALLBACKS: Partial<Record<Provider['kind'], string>> = {
  bedrock: 'AWS_ACCESS_KEY_ID',
  vertex: 'GOOGLE_VERTEX_API_KEY',
};

/** The key that would go to a host it does not belong to. `allowed`: hosts that the user adds. */
export function misdirectedKey(
  { kind, keyEnv, baseUrl }: Provider,
  allowed: Readonly<Record<string, readonly string[]>>,
): { key: string; host: string } | undefined {
  if (baseUrl === undefined) return undefined;
  const keys = [keyEnv ?? USUAL_KEYS[kind], FALLBACKS[kind]].filter(
    (key) => key !== undefined && Object.hasOwn(HOSTS, key),
  );
  if (keys.length === 0) return undefined;
  const { host, isPrivate } = placeOf(baseUrl);
  const mayGo = (key: string): boolean => {
    const own = Object.hasOwn(allowed, key) ? allowed[key]! : [];
    return own.concat(isPrivate ? HOSTS[key]! : []).some((pattern) => fits(host, pattern));
  };
  const key = keys.find((name) => !mayGo(name!));
  return key === undefined ? undefined : { key, host };
}

/** The host with its port, if it has one. A text that is not an address belongs to nobody. */
function placeOf(address: string): { host: string; isPrivate: boolean } {
  const url = attempt(() => new URL(address));
  // Without encryption anybody on the way is the host.
  return { host: url?.host.toLowerCase() ?? address, isPrivate: url?.protocol === 'https:' };
}

/** `*` is any part of a label, and at the beginning any subdomain. */
function fits(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  const bare = host.replace(/:\d+$/, '');
  if (wanted.startsWith('*.')) return bare.endsWith(wanted.slice(1));
  const labels = bare.split('.');
  const wantedLabels = wanted.split('.');
  return (
    host === wanted ||
    (labels.length === wantedLabels.length && labels.every((label, n) => fitsLabel(label, wantedLabels[n]!)))
  );
}

function fitsLabel(label: string, wanted: string): boolean {
  const [start, end] = wanted.split('*');
  if (end === undefined) return label === wanted;
  return label.length >= start!.length + end.length && label.startsWith(start!) && label.endsWith(end);
}
