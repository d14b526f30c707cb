/**
 * The hosts that well-known keys belong to. A workspace cannot send such a key anywhere else, even
 * if it is trusted; only the user's own settings can add a host.
 */
import { attempt } from '../attempt.js';
import type { Provider } from './config.js';

const HOSTS: Readonly<Record<string, readonly string[]>> = {
  OPENAI_API_KEY: ['api.openai.com'],
  ANTHROPIC_API_KEY: ['api.anthropic.com'],
  ANTHROPIC_AUTH_TOKEN: ['api.anthropic.com'],
  GOOGLE_GENERATIVE_AI_API_KEY: ['generativelanguage.googleapis.com'],
  GEMINI_API_KEY: ['generativelanguage.googleapis.com'],
  GOOGLE_VERTEX_API_KEY: ['*.googleapis.com'],
  OPENROUTER_API_KEY: ['openrouter.ai'],
  GROQ_API_KEY: ['api.groq.com'],
  MISTRAL_API_KEY: ['api.mistral.ai'],
  DEEPSEEK_API_KEY: ['api.deepseek.com'],
  XAI_API_KEY: ['api.x.ai'],
  AZURE_API_KEY: ['*.azure.com'],
  AWS_BEARER_TOKEN_BEDROCK: ['*.amazonaws.com'],
  AWS_ACCESS_KEY_ID: ['*.amazonaws.com'],
  AWS_SECRET_ACCESS_KEY: ['*.amazonaws.com'],
  AWS_SESSION_TOKEN: ['*.amazonaws.com'],
  GITHUB_TOKEN: ['api.github.com', 'models.github.ai'],
  GH_TOKEN: ['api.github.com', 'models.github.ai'],
  NPM_TOKEN: ['registry.npmjs.org'],
  SLACK_BOT_TOKEN: ['slack.com'],
  SLACK_APP_TOKEN: ['slack.com'],
};

/** The key that a provider of this kind uses if it names none. */
const USUAL: Partial<Record<Provider['kind'], string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  openrouter: 'OPENROUTER_API_KEY',
  mistral: 'MISTRAL_API_KEY',
  deepseek: 'DEEPSEEK_API_KEY',
  groq: 'GROQ_API_KEY',
  xai: 'XAI_API_KEY',
  azure: 'AZURE_API_KEY',
};

/** The key that would go to a host it does not belong to. `allowed`: hosts that the user adds. */
export function misdirectedKey(
  { kind, keyEnv, baseUrl }: Provider,
  allowed: Readonly<Record<string, readonly string[]>>,
): { key: string; host: string } | undefined {
  const key = keyEnv ?? USUAL[kind];
  if (key === undefined || baseUrl === undefined || !Object.hasOwn(HOSTS, key)) return undefined;
  const host = hostOf(baseUrl);
  const own = Object.hasOwn(allowed, key) ? allowed[key]! : [];
  return [...HOSTS[key]!, ...own].some((pattern) => fits(host, pattern)) ? undefined : { key, host };
}

/** With its port, if it has one. A text that is not an address belongs to nobody. */
function hostOf(address: string): string {
  return attempt(() => new URL(address).host.toLowerCase(), address);
}

function fits(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase();
  const bare = host.replace(/:\d+$/, '');
  return wanted.startsWith('*.') ? bare.endsWith(wanted.slice(1)) : host === wanted || bare === wanted;
}
