/** One call of an AI SDK provider: its options, and its stream turned into an answer. Streams report errors as parts, not by throwing. */
import type { Provider } from '../../../domain/config/config.js';
import type { ModelReply, ModelRequest } from '../../../ports/model.js';
import { collect } from './collect.js';
import type { Asked } from './failures.js';
import { toPrompt, toTools, type CallOptions, type LanguageModel } from './prompt.js';

export async function converse(
  model: LanguageModel,
  provider: Provider,
  request: ModelRequest,
  asked: Asked,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { stream, response } = await model.doStream(optionsOf(request, provider, signal));
  const answer = collect(request, asked);
  const reader = stream.getReader();
  while (!answer.over) {
    const { done, value: part } = await reader.read();
    if (done) break;
    if (part.type === 'text-delta') answer.text(part.delta);
    else if (part.type === 'tool-call') {
      if (!part.providerExecuted) answer.call({ id: part.toolCallId, name: part.toolName, input: part.input });
    } else if (part.type === 'finish') {
      const { inputTokens, outputTokens } = part.usage;
      answer.finish(part.finishReason.unified);
      answer.usage({ input: inputTokens.total, output: outputTokens.total, cached: inputTokens.cacheRead });
    } else if (part.type === 'error') answer.error(part.error);
    else if ('delta' in part) answer.other(part.delta.length);
  }
  // Whatever is still on its way is not wanted; the connection is closed with it.
  if (answer.over) void reader.cancel().catch(() => undefined);
  return answer.reply(response?.headers?.['content-type'] ?? '');
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
