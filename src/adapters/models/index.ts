/** The one model of a workspace: sends each call to the adapter its provider wants. Adapters are loaded when first needed. */
import type { Config } from '../../domain/config/config.js';
import type { Price } from '../../domain/budget/price.js';
import { nearestHint } from '../../domain/nearest.js';
import { costMicroUsd, findPrice } from '../../domain/budget/price.js';
import { findProvider, providerNames, splitModel } from '../../domain/config/providers.js';
import type { Clock } from '../../ports/clock.js';
import type { Model, ModelReply } from '../../ports/model.js';

interface ModelsGiven {
  config: Pick<Config, 'providers' | 'prices' | 'timeouts'>;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** A file of the workspace by its relative path; undefined if it is missing. */
  readFile(path: string): string | undefined;
}

export function models(given: ModelsGiven): Model {
  const { config } = given;
  const scripts = new Map<string, { text: string; model: Model }>();
  let real: Promise<Model> | undefined;

  /** A script is read again on each call, so that an edit counts at once; it is parsed again only when it has changed. */
  async function script(file: string): Promise<Model | undefined> {
    const text = given.readFile(file);
    if (text === undefined) return undefined;
    const kept = scripts.get(file);
    if (kept?.text === text) return kept.model;
    const { scripted } = await import('./scripted/index.js');
    const model = scripted({ text, file }, given.clock);
    scripts.set(file, { text, model });
    return model;
  }

  return {
    async call(request) {
      const name = splitModel(request.model)?.provider ?? request.model;
      const provider = findProvider(name, config.providers);
      if (!provider)
        return unknown(
          `there is no provider ${name}`,
          nearestHint(name, providerNames(config.providers), 'add it under "providers" in guild.yaml'),
        );
      if (provider.kind !== 'scripted') {
        real ??= import('./ai-sdk/index.js').then(({ aiSdk }) => aiSdk(given));
        return (await real).call(request);
      }
      const file = provider.script ?? 'script.yaml';
      const model = await script(file);
      return model
        ? priced(await model.call(request), findPrice(request.model, config.prices))
        : unknown(
            `the script ${file} of provider ${name} is missing`,
            `write it, or set providers.${name}.script in guild.yaml`,
          );
    },
  };
}

/** What a script plays costs nothing, unless people give it a price: then budgets and trees can be tried out. */
function priced(reply: ModelReply, price: Price | undefined): ModelReply {
  if (!reply.ok || price === undefined) return reply;
  return { ...reply, answer: { ...reply.answer, microUsd: costMicroUsd(price, reply.answer) } };
}

function unknown(message: string, hint?: string): ModelReply {
  return { ok: false, failure: { class: 'unknown_model', message: hint ? `${message}; ${hint}` : message } };
}
