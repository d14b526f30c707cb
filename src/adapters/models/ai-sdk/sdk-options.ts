/** The options of one AI SDK call: what each provider wants beside the conversation. */
import { createHash } from 'node:crypto';
import type { Provider } from '../../../domain/config/config.js';
import type { ModelRequest, ToolSpec } from '../../../ports/model.js';
import { withCacheMarks } from './cache-marks.js';
import type { CallOptions, PromptWriter } from './prompt.js';

interface Target {
  provider: Provider;
  modelId: string;
  prompts: PromptWriter;
  /** For OpenAI. */
  api?: 'responses' | 'chat';
}

export function sdkOptions(request: ModelRequest, target: Target, abortSignal: AbortSignal): CallOptions {
  const { prompts, provider } = target;
  const isAnthropic = provider.kind === 'anthropic';
  const prompt = prompts.toPrompt(request.system, request.messages);
  const tools = prompts.toTools(isAnthropic ? neededTools(request) : request.tools);
  const { temperature, maxTokens, topP, topK } = request.settings;
  const reasoning = reasoningFor(request, target);
  return {
    ...(isAnthropic ? withCacheMarks({ prompt, tools }) : { prompt, tools }),
    abortSignal,
    temperature,
    maxOutputTokens: maxTokens,
    topP,
    topK,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(target.api === 'responses' ? { providerOptions: { openai: responsesOptions(request) } } : {}),
  };
}

function reasoningFor({ settings, messages }: ModelRequest, { provider, modelId }: Target): CallOptions['reasoning'] {
  const { reasoning } = settings;
  // Between a call and the answer to its result, older Claude models require their signed thoughts,
  // which sessions do not keep. So reasoning is off there.
  const isAfterCall = (messages.findLast(({ role }) => role === 'assistant')?.toolCalls?.length ?? 0) > 0;
  if (provider.kind === 'anthropic' && isAfterCall && hasThinkingBudget(modelId)) return undefined;
  const isLeast = reasoning === 'none' || reasoning === 'minimal';
  return provider.kind === 'google' && isLeast && !hasMinimalLevel(modelId) ? 'low' : reasoning;
}

/** Claude up to 4.5: thinking has a budget, and an answer before results begins with it. */
function hasThinkingBudget(model: string): boolean {
  return /claude-(3|(haiku|sonnet|opus)-4(?!-[6-9]))/.test(model);
}

/** Of the Gemini models with levels, only Flash 3 has `minimal`; none can be switched off. */
function hasMinimalLevel(model: string): boolean {
  return !/^gemini-([4-9]|\d\d|3(?!.*flash))/.test(model);
}

/**
 * Anthropic refuses a conversation with calls but without tools. So a request without tools names
 * the tools that were called.
 */
function neededTools({ tools, messages }: ModelRequest): readonly ToolSpec[] {
  if (tools.length > 0) return tools;
  const names = new Set(messages.flatMap(({ toolCalls }) => (toolCalls ?? []).map(({ name }) => name)));
  return [...names].map((name) => ({
    name,
    description: 'Not available now. Answer in words.',
    parameters: { type: 'object' },
  }));
}

/**
 * Nothing is stored at OpenAI. The key sends calls of one agent to the same cache; it is a hash,
 * because names of agents are nobody else's business.
 */
function responsesOptions({ agent }: ModelRequest) {
  const promptCacheKey = createHash('sha256').update(agent).digest('hex').slice(0, 16);
  return { store: false, promptCacheKey };
}
