/**
 * Stand-ins of providers, for tests without a key: each plays a model in the provider's own wire
 * format and refuses what the provider refuses. The rules are in the file `rules.ts` of each.
 */
import type { Model } from '../../../ports/model.js';
import type { ModelServer } from '../server/http.js';
import { serveStandIn } from './serve.js';
import type { Quirk } from './quirks/quirk.js';
import type { StandIn, StandInOptions } from './wire/stand-in.js';

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
  as: StandInName;
  model: Model;
  /** The name of a quirk; see `quirksOf`. */
  quirk?: string;
  host?: string;
  port?: number;
  now?: () => number;
}): Promise<ModelServer> {
  const { as, quirk, now = Date.now, ...rest } = options;
  const standIn = await createStandIn(as, { now });
  return serveStandIn({ ...rest, standIn, quirk: quirk === undefined ? undefined : (await quirksOf(as))[quirk] });
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

/** The quirks that can be switched on for a stand-in, by name. */
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
