/** Calls an AI SDK provider once. Its streams report errors as parts instead of throwing them. */
import type { Provider } from '../../../domain/config/config.js';
import type { ModelReply, ModelRequest } from '../../../ports/model.js';
import { collect } from './collect.js';
import type { Context } from './context.js';
import type { CallInfo } from './failures.js';
import { introduction } from './introduction.js';
import { partCollector, type PartCollector } from './prompt/answer-parts.js';
import type { PromptWriter } from './prompt/prompt.js';
import type { LanguageModel, StreamPart } from './prompt/types.js';
import { sdkOptions } from './sdk-options.js';

interface SdkCaller {
  model: LanguageModel;
  provider: Provider;
  prompts: PromptWriter;
  /** The API to use at OpenAI. */
  api?: 'responses' | 'chat';
  /** Sends agent and task in headers. Only for a server on this machine. */
  introduced?: boolean;
}

export async function callSdk(
  { model, provider, prompts, api, introduced }: SdkCaller,
  request: ModelRequest,
  info: CallInfo,
  signal: AbortSignal,
  { thoughts, media }: Context,
): Promise<ModelReply> {
  const options = sdkOptions(request, { provider, modelId: model.modelId, prompts, api, thoughts, media }, signal);
  const { stream, response } = await model.doStream(
    introduced ? { ...options, headers: introduction(request) } : options,
  );
  const answer = collect(request, info);
  const parts = partCollector();
  const reader = stream.getReader();
  while (!answer.hasFailed) {
    const { done, value: part } = await reader.read();
    if (done) break;
    collectPart(parts, part);
    if (part.type === 'text-delta') answer.text(part.delta);
    else if (part.type === 'tool-call') {
      if (!part.providerExecuted) answer.call({ id: part.toolCallId, name: part.toolName, input: part.input });
    } else if (part.type === 'finish') {
      const { inputTokens, outputTokens } = part.usage;
      const { unified, raw } = part.finishReason;
      // A paused turn is not an answer: nothing here can resume it.
      answer.finish(raw === 'pause_turn' ? 'interrupted' : unified, raw);
      const { total: input, cacheRead: cached, cacheWrite: written } = inputTokens;
      answer.usage({ input, output: outputTokens.total, cached, written });
    } else if (part.type === 'error') {
      if (!isUnknownEvent(part.error)) answer.error(part.error);
    } else if ('delta' in part) answer.skip(part.delta.length);
  }
  // The rest of the stream is not needed; cancelling closes the connection.
  if (answer.hasFailed) void reader.cancel().catch(() => undefined);
  const reply = answer.reply(response?.headers?.['content-type'] ?? '');
  const kept = parts.parts();
  if (reply.ok && kept) {
    const { text: content, toolCalls } = reply.answer;
    reply.answer.provider = thoughts.keep(kept, { content, toolCalls });
  }
  return reply;
}

/** The events that an answer consists of, at Anthropic and in the Responses API. */
const CONTENT =
  /^(message_|content_block_|error$|response\.(output_item|output_text\.d|function_call|reasoning|refusal|completed|incomplete|failed))/;

/**
 * An event that the package does not know and that is not part of the answer. Providers add such
 * events at any time and ask clients to ignore them.
 */
function isUnknownEvent(error: unknown): boolean {
  const { name, value } = error as { name?: string; value?: { type?: unknown } };
  return name === 'AI_TypeValidationError' && typeof value?.type === 'string' && !CONTENT.test(value.type);
}

function collectPart(parts: PartCollector, part: StreamPart): void {
  switch (part.type) {
    case 'text-start':
    case 'text-end':
      return parts.text(part.id, 0, part.providerMetadata);
    case 'text-delta':
      return parts.text(part.id, part.delta.length, part.providerMetadata);
    case 'reasoning-start':
    case 'reasoning-end':
      return parts.reasoning(part.id, '', part.providerMetadata);
    case 'reasoning-delta':
      return parts.reasoning(part.id, part.delta, part.providerMetadata);
    case 'tool-call':
      return part.providerExecuted ? undefined : parts.call(part.providerMetadata);
    default:
      return;
  }
}
