/** Routes each call to the adapter of the model's provider. Adapters are loaded on first use. */
import type { Config } from '../../domain/config/config.js';
import type { Price } from '../../domain/budget/price.js';
import type { Env } from '../../domain/config/env.js';
import { nearestHint } from '../../domain/nearest.js';
import { costMicroUsd, findPrice } from '../../domain/budget/price.js';
import { findProvider, providerNames, splitModel } from '../../domain/config/providers.js';
import type { Clock } from '../../ports/clock.js';
import type { Model, ModelReply } from '../../ports/model.js';

interface ModelsOptions {
  config: Pick<Config, 'providers' | 'prices' | 'timeouts'>;
  env: Env;
  clock: Clock;
  /** Reads a file of the workspace by its relative path; undefined if it is missing. */
  readFile(path: string): string | undefined;
  readBlob?(hash: string): Promise<Uint8Array | undefined>;
}

export function models(options: ModelsOptions): Model {
  const { config } = options;
  const scripts = new Map<string, { text: string; model: Model }>();
  let aiSdkModel: Promise<Model> | undefined;

  /**
   * Reads the script on every call, so that edits count immediately. Parses it only if it changed.
   */
  async function script(file: string): Promise<Model | undefined> {
    const text = options.readFile(file);
    if (text === undefined) return undefined;
    const cached = scripts.get(file);
    if (cached?.text === text) return cached.model;
    const { scripted } = await import('./scripted/index.js');
    const model = scripted({ text, file }, options.clock);
    scripts.set(file, { text, model });
    return model;
  }

  return {
    async call(request) {
      const name = splitModel(request.model)?.provider ?? request.model;
      const provider = findProvider(name, config.providers);
      if (!provider)
        return unknown(
          `unknown provider ${name}`,
          nearestHint(name, providerNames(config.providers), 'add it under "providers" in guild.yaml'),
        );
      if (provider.kind !== 'scripted') {
        aiSdkModel ??= import('./ai-sdk/index.js').then(({ aiSdk }) => aiSdk(options));
        return (await aiSdkModel).call(request);
      }
      const file = provider.script ?? 'script.yaml';
      const model = await script(file);
      return model
        ? priced(await model.call(request), findPrice(request.model, config.prices))
        : unknown(
            `the script ${file} of provider ${name} is missing, or agents may not read it`,
            `create it, or set providers.${name}.script in guild.yaml`,
          );
    },
  };
}

/** Scripted answers are free unless guild.yaml sets a price, so that budgets can be tried out. */
function priced(reply: ModelReply, price: Price | undefined): ModelReply {
  if (!reply.ok || price === undefined) return reply;
  return { ...reply, answer: { ...reply.answer, microUsd: costMicroUsd(price, reply.answer) } };
}

function unknown(message: string, hint?: string): ModelReply {
  return { ok: false, failure: { class: 'unknown_model', message: hint ? `${message}; ${hint}` : message } };
}
