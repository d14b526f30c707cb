/**
 * Real models: OpenAI, Anthropic and Google through the providers of the AI SDK, called directly (`doStream`), and any
 * OpenAI-compatible server by ourselves. One request for one call: retries, tool loops and conversations are not in here. A provider
 * is loaded when it is first used, and what it made for a model is kept.
 */
import type { Config, Provider } from '../../../domain/config/config.js';
import { costMicroUsd, findPrice, type Price } from '../../../domain/budget/price.js';
import { findProvider, splitModel } from '../../../domain/config/providers.js';
import type { Clock } from '../../../ports/clock.js';
import type { Model, ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../../../ports/model.js';
import { converse } from './converse.js';
import { chatCompletions } from './chat-completions.js';
import { keepAliveHttp, type Http } from './http.js';
import { httpFetch } from './http-fetch.js';
import { failure, failureOf, otherModel, type Asked } from './failures.js';
import { LIST_PRICES } from './prices.js';
import { makeModel, siteOf, type Env, type Site } from './site.js';

export function aiSdk(given: {
  config: Pick<Config, 'providers' | 'prices' | 'timeouts'>;
  env: Env;
  clock: Pick<Clock, 'now'>;
}): Model {
  const { config, env, clock } = given;
  const http = keepAliveHttp({ stallMs: config.timeouts.stallMs });
  const voices = new Map<string, Promise<Voice>>();

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
      let voice = voices.get(request.model);
      if (!voice) voices.set(request.model, (voice = voiceOf(parts, provider, site, http)));
      try {
        const reply = await limited(await voice, request, asked, config.timeouts.callMs);
        if (reply.ok) setCost(reply.answer, findPrice(request.model, config.prices, LIST_PRICES));
        return reply;
      } catch (error) {
        return failed(failureOf(error, asked));
      }
    },
  };
}

/** Asks one model once. Rejects with whatever went wrong. */
type Voice = (request: ModelRequest, asked: Asked, signal: AbortSignal) => Promise<ModelReply>;

async function voiceOf(
  name: { provider: string; model: string },
  provider: Provider,
  site: Site,
  http: Http,
): Promise<Voice> {
  // What listens on this machine is not OpenAI, whatever its kind says.
  if (provider.kind === 'openai-compatible' || (provider.kind === 'openai' && site.local)) {
    return chatCompletions({
      http,
      baseUrl: site.baseUrl!,
      model: name.model,
      key: site.key,
      headers: provider.headers,
      introduced: provider.kind === 'openai',
    });
  }
  const model = await makeModel(name.model, provider, site, httpFetch(http));
  return (request, asked, signal) => converse(model, provider, request, asked, signal);
}

/** An own signal unites the caller's with our time limit. */
async function limited(voice: Voice, request: ModelRequest, asked: Asked, callMs: number): Promise<ModelReply> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  if (request.signal?.aborted) return aborted();
  request.signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, callMs);
  try {
    return await voice(request, asked, stop.signal);
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

function setCost(answer: ModelAnswer, price: Price | undefined): void {
  if (price === undefined) answer.unpriced = true;
  else answer.microUsd = costMicroUsd(price, answer);
}

function failed(failed: ModelFailure): ModelReply {
  return { ok: false, failure: failed };
}

function aborted(): ModelReply {
  return failed({ class: 'aborted', message: 'the call was aborted' });
}
