/** Our real clients against a stand-in: the script is played over HTTP in the provider's format. */
import { aiSdk } from '../../../src/adapters/models/ai-sdk/index.js';
import { scripted } from '../../../src/adapters/models/scripted/index.js';
import { createStandIn, quirksOf, type StandInName } from '../../../src/adapters/models/stand-ins/index.js';
import { serveStandIn } from '../../../src/adapters/models/stand-ins/serve.js';
import type { Json } from '../../../src/adapters/models/stand-ins/wire/json.js';
import type { ReadBlob } from '../../../src/adapters/models/ai-sdk/prompt/thoughts.js';
import type { Provider } from '../../../src/domain/config/config.js';
import type { Model, ModelReply } from '../../../src/ports/model.js';

/** How a workspace reaches each provider, and one of its current models. */
const REACHED: Record<StandInName, { provider: Omit<Provider, 'baseUrl'>; model: string }> = {
  'openai-responses': { provider: { kind: 'openai', api: 'responses', keyEnv: 'KEY' }, model: 'gpt-6-sol' },
  'openai-chat': { provider: { kind: 'openai', keyEnv: 'KEY' }, model: 'gpt-5' },
  anthropic: { provider: { kind: 'anthropic', keyEnv: 'KEY' }, model: 'claude-opus-5-5' },
  google: { provider: { kind: 'google', keyEnv: 'KEY' }, model: 'gemini-4-argon' },
  mistral: { provider: { kind: 'mistral', keyEnv: 'KEY' }, model: 'mistral-small-2603' },
  deepseek: { provider: { kind: 'deepseek', keyEnv: 'KEY' }, model: 'deepseek-flash' },
};

export interface StandInModel extends Model {
  replies: ModelReply[];
  /** The bodies of all requests. */
  bodies: Json[];
  /** Refusals of the stand-in, in its own words. */
  refusals(): string[];
  close(): Promise<void>;
}

export async function standInModel(
  as: StandInName,
  script: string,
  options: { model?: string; quirk?: string; stallMs?: number; readBlob?: ReadBlob; kind?: Provider['kind'] } = {},
): Promise<StandInModel> {
  const { provider, model } = REACHED[as];
  const standIn = await createStandIn(as, { now: Date.now });
  const bodies: Json[] = [];
  const server = await serveStandIn({
    standIn: {
      ...standIn,
      receive(call) {
        if (call.body) bodies.push(call.body);
        return standIn.receive(call);
      },
    },
    model: scripted(script),
    quirk: options.quirk === undefined ? undefined : (await quirksOf(as))[options.quirk],
  });
  const replies: ModelReply[] = [];
  const client = aiSdk({
    config: {
      providers: { [as]: { ...provider, kind: options.kind ?? provider.kind, baseUrl: server.url } },
      prices: {},
      timeouts: { callMs: 30_000, stallMs: options.stallMs ?? 10_000, tries: 1 },
    },
    env: { KEY: 'key' },
    clock: { now: () => new Date('2026-11-17T00:00:00Z') },
    readBlob: options.readBlob,
  });
  return {
    replies,
    bodies,
    refusals: () => replies.flatMap((reply) => (reply.ok ? [] : [reply.failure.message])),
    async call(request) {
      const reply = await client.call({ ...request, model: `${as}/${options.model ?? model}` });
      replies.push(reply);
      return reply;
    },
    close: () => server.close(),
  };
}
