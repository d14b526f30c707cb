/**
 * Real models: OpenAI, Anthropic and Google through AI SDK providers (`doStream`), and any
 * OpenAI-compatible server directly. One call is one request; retries and tool loops are elsewhere.
 * A provider is loaded on first use and cached per model.
 */
import type { Env } from '../../../domain/config/env.js';
import type { Config, Provider } from '../../../domain/config/config.js';
import { costMicroUsd, type Price } from '../../../domain/budget/price.js';
import { priceOf } from '../../../domain/config/prices.js';
import { findProvider, splitModel } from '../../../domain/config/providers.js';
import type { Clock } from '../../../ports/clock.js';
import type { Model, ModelAnswer, ModelFailure, ModelReply, ModelRequest } from '../../../ports/model.js';
import { callSdk } from './call-sdk.js';
import { chatBodyWriter, type ChatBody } from './chat-body.js';
import { chatCompletions } from './chat-completions.js';
import { dialectOf } from './dialect.js';
import { keepAliveHttp, type Http } from './http.js';
import { httpFetch } from './http-fetch.js';
import { failure, failureOf, otherModel, type CallInfo } from './failures.js';
import { promptWriter, type PromptWriter } from './prompt/prompt.js';
import { mediaReader } from './prompt/media.js';
import { thoughtBook, type ReadBlob, type Thoughts } from './prompt/thoughts.js';
import type { Context } from './context.js';
import { createModel } from './create-model.js';
import { endpointOf, speaksResponses, type Endpoint } from './endpoint.js';

export function aiSdk(options: {
  config: Pick<Config, 'providers' | 'prices' | 'timeouts'>;
  env: Env;
  clock: Pick<Clock, 'now'>;
  /** Reads the thoughts of earlier answers that were too long for the conversation. */
  readBlob?: ReadBlob | undefined;
}): Model {
  const { config, env, clock } = options;
  const prompts = promptWriter();
  const shared = {
    http: keepAliveHttp({ stallMs: config.timeouts.stallMs }),
    prompts,
    chatBody: chatBodyWriter(prompts),
  };
  const book = thoughtBook(options.readBlob);
  const mediaOf = mediaReader(options.readBlob);
  const callers = new Map<string, Promise<Caller>>();

  return {
    async call(request) {
      const parts = splitModel(request.model);
      const provider = parts && findProvider(parts.provider, config.providers);
      if (!parts || !provider)
        return failed({
          class: 'unknown_model',
          message: `no provider is configured for ${request.model}; ${otherModel(request)}`,
        });
      const endpoint = endpointOf(provider, env);
      const info: CallInfo = {
        ...parts,
        agent: request.agent,
        address: endpoint.address,
        keyEnv: endpoint.keyEnv,
        secret: endpoint.key,
        now: clock.now(),
      };
      if (provider.kind === 'openai-compatible' && !endpoint.baseUrl) {
        return failed({ class: 'unknown_model', message: `provider ${parts.provider} has no base_url in guild.yaml` });
      }
      if (endpoint.key === undefined && !endpoint.keyless) {
        return failed({
          class: 'auth',
          message: `${endpoint.missing}: export it, or ${otherModel(request)}`,
        });
      }
      let caller = callers.get(request.model);
      if (!caller) callers.set(request.model, (caller = createCaller(parts, provider, endpoint, { ...shared, env })));
      try {
        const thoughts = await book.of(request, parts);
        const { kind } = provider;
        const isChat = isOwnClient(provider, endpoint);
        const media = await mediaOf(request, { kind, model: parts.model, isChat });
        const reply = await callWithTimeout(await caller, request, info, config.timeouts.callMs, { thoughts, media });
        if (reply.ok) setCost(reply.answer, priceOf(request.model, config, env, clock.now()));
        else if (reply.failure.class === 'stale_thoughts') return staleThoughts(reply.failure, thoughts);
        return reply;
      } catch (error) {
        return failed(failureOf(error, info));
      }
    },
  };
}

/** Calls one model once. Rejects with the provider's error. */
type Caller = (request: ModelRequest, info: CallInfo, signal: AbortSignal, context: Context) => Promise<ModelReply>;

/** Connections and caches, which a conversation keeps when its model changes. */
interface Shared {
  http: Http;
  prompts: PromptWriter;
  chatBody: ChatBody;
  env: Env;
}

async function createCaller(
  name: { provider: string; model: string },
  provider: Provider,
  endpoint: Endpoint,
  { http, prompts, chatBody, env }: Shared,
): Promise<Caller> {
  if (isOwnClient(provider, endpoint)) {
    const dialect = dialectOf({ ...name, baseUrl: endpoint.baseUrl! });
    return chatCompletions({
      http,
      baseUrl: endpoint.baseUrl!,
      model: name.model,
      chatBody,
      dialect,
      key: endpoint.key,
      headers: provider.headers,
      // To any other server, the name of the model may be the name of an agent.
      introduced: endpoint.local && (provider.kind === 'openai' || dialect.isVendor),
    });
  }
  const model = await createModel(name.model, provider, endpoint, httpFetch(http), env);
  const api =
    speaksResponses(provider, endpoint) || provider.kind === 'azure' ? ('responses' as const) : ('chat' as const);
  const sdk = { model, provider, prompts, api, introduced: endpoint.local };
  return (request, info, signal, context) => callSdk(sdk, request, info, signal, context);
}

/** A server on this machine is not OpenAI, even if its kind says so. */
function isOwnClient(provider: Provider, endpoint: Endpoint): boolean {
  const isChat = provider.kind === 'openai' && !speaksResponses(provider, endpoint);
  return provider.kind === 'openai-compatible' || (isChat && endpoint.local);
}

/** Combines the caller's signal with our time limit. */
async function callWithTimeout(
  caller: Caller,
  request: ModelRequest,
  info: CallInfo,
  callMs: number,
  context: Context,
): Promise<ModelReply> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  if (request.signal?.aborted) return aborted();
  request.signal?.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(abort, callMs);
  try {
    return await caller(request, info, stop.signal, context);
  } catch (error) {
    if (request.signal?.aborted) return aborted();
    if (stop.signal.aborted)
      return failed(
        failure(
          'cut_off',
          info,
          `gave no complete answer within ${callMs / 1000} s`,
          'raise timeouts.call in guild.yaml if it needs longer',
        ),
      );
    return failed(failureOf(error, info));
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', abort);
  }
}

/** The next attempt leaves the thoughts out. Without thoughts, it could not help. */
function staleThoughts(failure: ModelFailure, thoughts: Thoughts): ModelReply {
  if (thoughts.sent.size === 0) return failed({ ...failure, class: 'refused' });
  thoughts.reject();
  return failed(failure);
}

function setCost(answer: ModelAnswer, price: Price | undefined): void {
  if (price === undefined) answer.unpriced = true;
  else answer.microUsd = costMicroUsd(price, answer);
}

function failed(failure: ModelFailure): ModelReply {
  return { ok: false, failure };
}

function aborted(): ModelReply {
  return failed({ class: 'aborted', message: 'the call was aborted' });
}
