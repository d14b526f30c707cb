/**
 * Real models, through the providers of the AI SDK. They are called directly (`doStream`), one request for one call: retries,
 * tool loops and conversations are ours. A provider is loaded when it is first used and its model objects are kept.
 */
import type { Config, Provider } from '../domain/config.js';
import { costMicroUsd, findPrice } from '../domain/price.js';
import { findProvider, splitModel } from '../domain/providers.js';
import type { Clock } from '../ports/clock.js';
import type { Model, ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../ports/model.js';
import { toPrompt, toTools, type CallOptions, type LanguageModel } from './ai-sdk/prompt.js';
import { collect } from './ai-sdk/collect.js';
import { httpFetch } from './ai-sdk/http-fetch.js';
import { failure, failureOf, otherModel, type Asked } from './ai-sdk/failures.js';
import { LIST_PRICES } from './ai-sdk/prices.js';
import { makeModel, siteOf, type Env } from './ai-sdk/site.js';

export function aiSdk(given: {
  config: Pick<Config, 'providers' | 'prices' | 'timeouts'>;
  env: Env;
  clock: Pick<Clock, 'now'>;
}): Model {
  const { config, env, clock } = given;
  const fetch = httpFetch({ stallMs: config.timeouts.stallMs });
  const models = new Map<string, Promise<LanguageModel>>();

  return {
    async call(request) {
      const parts = splitModel(request.model);
      const provider = parts && findProvider(parts.provider, config.providers);
      if (!parts || !provider)
        return failed({
          class: 'unknown_model',
          message: `there is no provider for ${request.model}; ${otherModel(request)}`,
        });
      const site = siteOf(provider, env);
      const asked: Asked = {
        ...parts,
        agent: request.agent,
        address: site.address,
        keyEnv: site.keyEnv,
        secret: site.key,
        now: clock.now(),
      };
      if (provider.kind === 'openai-compatible' && !site.baseUrl) {
        return failed({ class: 'unknown_model', message: `provider ${parts.provider} has no base_url in guild.yaml` });
      }
      if (site.key === undefined && !site.keyless) {
        return failed({ class: 'auth', message: `${site.keyEnv} is not set: export it, or ${otherModel(request)}` });
      }
      let model = models.get(request.model);
      if (!model) models.set(request.model, (model = makeModel(parts.provider, parts.model, provider, site, fetch)));
      try {
        const reply = await converse(await model, provider, request, asked, config.timeouts.callMs);
        if (reply.ok) reply.answer.microUsd = cost(request.model, reply.answer, config.prices);
        return reply;
      } catch (error) {
        return failed(failureOf(error, asked));
      }
    },
  };
}

/** One request: an own signal unites the caller's with our time limit. */
async function converse(
  model: LanguageModel,
  provider: Provider,
  request: ModelRequest,
  asked: Asked,
  callMs: number,
): Promise<ModelReply> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  if (request.signal?.aborted) return aborted();
  request.signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, callMs);
  try {
    const { stream, response } = await model.doStream(optionsOf(request, provider, stop.signal));
    return await collect(stream, request, asked, response?.headers?.['content-type'] ?? '', stop);
  } catch (error) {
    if (request.signal?.aborted) return aborted();
    if (stop.signal.aborted)
      return failed(
        failure(
          'cut_off',
          asked,
          `gave no complete answer within ${callMs / 1000} s`,
          'raise timeouts.call in guild.yaml if it needs longer',
        ),
      );
    return failed(failureOf(error, asked));
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', abort);
  }
}

function optionsOf(request: ModelRequest, provider: Provider, abortSignal: AbortSignal): CallOptions {
  const { temperature, maxTokens, topP, topK, reasoning } = request.settings;
  // Anthropic wants its own signed thoughts back between a tool call and its result, and conversations do not keep them.
  const midThought = provider.kind === 'anthropic' && request.messages.at(-1)?.role === 'tool';
  return {
    prompt: toPrompt(request.system, request.messages),
    tools: toTools(request.tools),
    abortSignal,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
    ...(reasoning === undefined || midThought ? {} : { reasoning }),
  };
}

function cost(model: string, answer: ModelAnswer, prices: Config['prices']): number {
  const price = findPrice(model, prices, LIST_PRICES);
  return price ? costMicroUsd(price, answer) : 0;
}

function failed(failed: ModelFailure): ModelReply {
  return { ok: false, failure: failed };
}

function aborted(): ModelReply {
  return failed({ class: 'aborted', message: 'the call was aborted' });
}
