/**
 * A script behind a strict stand-in of a provider, reached by our real client over HTTP. It proves
 * that the harness and the requests are right, and says nothing about a model.
 */
import { clock } from '../../adapters/clock/index.js';
import { models } from '../../adapters/models/index.js';
import { scripted } from '../../adapters/models/scripted/index.js';
import { standIns, type StandInName } from '../../adapters/models/stand-ins/index.js';
import type { Provider } from '../../domain/config/config.js';
import type { Model } from '../../ports/model.js';

/** How each provider is reached, and one of its current models. */
const REACHED: Record<StandInName, { provider: Omit<Provider, 'baseUrl'>; model: string }> = {
  'openai-responses': { provider: { kind: 'openai', api: 'responses', keyEnv: 'KEY' }, model: 'gpt-6-sol' },
  'openai-chat': { provider: { kind: 'openai', keyEnv: 'KEY' }, model: 'gpt-5' },
  anthropic: { provider: { kind: 'anthropic', keyEnv: 'KEY' }, model: 'claude-opus-5-5' },
  google: { provider: { kind: 'google', keyEnv: 'KEY' }, model: 'gemini-4-argon' },
  mistral: { provider: { kind: 'openai-compatible', keyEnv: 'KEY' }, model: 'mistral-small-2603' },
  deepseek: { provider: { kind: 'openai-compatible', keyEnv: 'KEY' }, model: 'deepseek-flash' },
};

interface OfflineModel {
  model: Model;
  close(): Promise<void>;
}

export async function offlineModel(as: StandInName, script: string): Promise<OfflineModel> {
  const { provider, model: name } = REACHED[as];
  const server = await standIns({ as, model: scripted(script) });
  const client = models({
    config: {
      providers: { [as]: { ...provider, baseUrl: server.url } },
      prices: {},
      timeouts: { callMs: 60_000, stallMs: 30_000, tries: 1 },
    },
    env: { KEY: 'offline' },
    clock: clock(),
    readFile: () => undefined,
  });
  return {
    model: { call: (request) => client.call({ ...request, model: `${as}/${name}` }) },
    close: () => server.close(),
  };
}
