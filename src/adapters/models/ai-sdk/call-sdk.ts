/** Calls an AI SDK provider once. Its streams report errors as parts instead of throwing them. */
import type { Provider } from '../../../domain/config/config.js';
import type { ModelReply, ModelRequest } from '../../../ports/model.js';
import { collect } from './collect.js';
import type { CallInfo } from './failures.js';
import { introduction } from './introduction.js';
import type { LanguageModel, PromptWriter } from './prompt.js';
import { sdkOptions } from './sdk-options.js';

interface SdkCaller {
  model: LanguageModel;
  provider: Provider;
  prompts: PromptWriter;
  /** For OpenAI. */
  api?: 'responses' | 'chat';
  /** Sends agent and task in headers. Only for a server on this machine. */
  introduced?: boolean;
}

export async function callSdk(
  { model, provider, prompts, api, introduced }: SdkCaller,
  request: ModelRequest,
  info: CallInfo,
  signal: AbortSignal,
): Promise<ModelReply> {
  const options = sdkOptions(request, { provider, modelId: model.modelId, prompts, api }, signal);
  const { stream, response } = await model.doStream(
    introduced ? { ...options, headers: introduction(request) } : options,
  );
  const answer = collect(request, info);
  const reader = stream.getReader();
  while (!answer.hasFailed) {
    const { done, value: part } = await reader.read();
    if (done) break;
    if (part.type === 'text-delta') answer.text(part.delta);
    else if (part.type === 'tool-call') {
      if (!part.providerExecuted) answer.call({ id: part.toolCallId, name: part.toolName, input: part.input });
    } else if (part.type === 'finish') {
      const { inputTokens, outputTokens } = part.usage;
      const { unified, raw } = part.finishReason;
      // A paused turn is not an answer: nothing here can resume it.
      answer.finish(raw === 'pause_turn' ? 'interrupted' : unified, raw);
      answer.usage({ input: inputTokens.total, output: outputTokens.total, cached: inputTokens.cacheRead });
    } else if (part.type === 'error') answer.error(part.error);
    else if ('delta' in part) answer.skip(part.delta.length);
  }
  // The rest of the stream is not needed; cancelling closes the connection.
  if (answer.hasFailed) void reader.cancel().catch(() => undefined);
  return answer.reply(response?.headers?.['content-type'] ?? '');
}
