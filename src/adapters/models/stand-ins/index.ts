/**
 * Stand-ins of providers, for tests without a key: each plays a model in the provider's own wire
 * format and refuses what the provider refuses.
 * Failures look like those of real servers: 429, 500, an HTML page, a stream that ends in mid-word.
 */
import type { Model } from '../../../ports/model.js';
import type { ModelServer } from './http.js';
import { serveStandIn } from './serve.js';
import type { Quirk } from './quirks/quirk.js';
import type { StandIn, StandInOptions } from './wire/stand-in.js';

export type { ModelServer } from './http.js';

export const STAND_IN_NAMES = [
  'openai-responses',
  'openai-chat',
  'anthropic',
  'google',
  'mistral',
  'deepseek',
] as const;
export type StandInName = (typeof STAND_IN_NAMES)[number];

export async function standIns(options: {
  /** Absent: a plain OpenAI-compatible server without a provider's rules. */
  as?: StandInName | undefined;
  model: Model;
  /** The name of a quirk of the provider; see `quirksOf`. */
  quirk?: string | undefined;
  host?: string;
  port?: number;
  now?: () => number;
}): Promise<ModelServer> {
  const { as, quirk, now = Date.now, ...rest } = options;
  const standIn = as === undefined ? (await import('./plain.js')).plain() : await createStandIn(as, { now });
  const shown = as === undefined || quirk === undefined ? undefined : (await quirksOf(as))[quirk];
  return serveStandIn({ ...rest, standIn, quirk: shown });
}

export async function createStandIn(name: StandInName, options: StandInOptions): Promise<StandIn> {
  switch (name) {
    case 'openai-responses':
      return (await import('./openai/responses.js')).openaiResponses(options);
    case 'openai-chat':
      return (await import('./openai/chat.js')).openaiChat(options);
    case 'anthropic':
      return (await import('./anthropic/index.js')).anthropic(options);
    case 'google':
      return (await import('./google/index.js')).google(options);
    case 'mistral':
      return (await import('./mistral/index.js')).mistral(options);
    case 'deepseek':
      return (await import('./deepseek/index.js')).deepseek(options);
  }
}

export async function quirksOf(name: StandInName): Promise<Readonly<Record<string, Quirk>>> {
  switch (name) {
    case 'openai-responses':
      return (await import('./quirks/responses.js')).RESPONSES_QUIRKS;
    case 'anthropic':
      return (await import('./quirks/anthropic.js')).ANTHROPIC_QUIRKS;
    case 'google':
      return (await import('./quirks/google.js')).GOOGLE_QUIRKS;
    case 'openai-chat':
    case 'mistral':
    case 'deepseek':
      return (await import('./quirks/chat.js')).CHAT_QUIRKS;
  }
}
