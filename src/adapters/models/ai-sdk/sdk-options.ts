/** The options of one AI SDK call that a provider wants besides the conversation. */
import type { Provider } from '../../../domain/config/config.js';
import { acceptedSettings } from '../../../domain/config/families.js';
import { defined } from '../../../domain/defined.js';
import type { ModelRequest, ToolSpec } from '../../../ports/model.js';
import { formatOptions, responseFormat } from './answer-format.js';
import { cacheKey } from './cache-key.js';
import { mistralEffort } from './dialect.js';
import { withCacheMarks } from './prompt/cache-marks.js';
import { needsSeparation, separated, type PromptWriter } from './prompt/prompt.js';
import type { Context } from './context.js';
import type { CallOptions } from './prompt/types.js';

interface Target extends Context {
  provider: Provider;
  modelId: string;
  prompts: PromptWriter;
  /** The API to use at OpenAI. */
  api?: 'responses' | 'chat';
}

export function sdkOptions(request: ModelRequest, target: Target, abortSignal: AbortSignal): CallOptions {
  const { prompts, modelId } = target;
  const isClaude = isClaudeAt(target);
  const plain = prompts.toPrompt(request.system, request.messages, target.thoughts.sent, target.media);
  const prompt = needsSeparation(`${target.provider.kind} ${modelId}`) ? separated(plain) : plain;
  const tools = prompts.toTools(isClaude ? neededTools(request) : request.tools);
  const { temperature, maxTokens, topP, topK } = acceptedSettings(modelId, request.settings);
  const reasoning = reasoningFor(request, target);
  return {
    ...(isClaude ? withCacheMarks({ prompt, tools }) : { prompt, tools }),
    ...toolChoice(request, target),
    ...responseFormat(request, target),
    abortSignal,
    temperature,
    maxOutputTokens: maxTokens,
    topP,
    topK,
    ...(reasoning === undefined ? {} : { reasoning }),
    ...merged(providerOptions(request, target), formatOptions(request, target)),
  };
}

/** A thinking model that cannot be forced to use a tool gets a reminder instead. */
function toolChoice({ toolChoice: choice, tools, settings }: ModelRequest, target: Target): Partial<CallOptions> {
  if (choice === undefined || tools.length === 0) return {};
  if (choice === 'none') return { toolChoice: { type: 'none' } };
  const isThinking = settings.reasoning !== undefined && settings.reasoning !== 'none';
  if ((isClaudeAt(target) && isThinking) || isDeepseekAt(target)) return {};
  return { toolChoice: { type: 'tool', toolName: choice.tool } };
}

/** DeepSeek thinks unless the request turns it off. */
function isDeepseekAt({ provider, modelId }: Target): boolean {
  return provider.kind === 'deepseek' || /deepseek/i.test(modelId);
}

/** Claude has the same rules wherever it is served. */
function isClaudeAt({ provider, modelId }: Target): boolean {
  return provider.kind === 'anthropic' || /claude-/.test(modelId);
}

function reasoningFor(
  { settings, messages }: ModelRequest,
  { provider, modelId, thoughts }: Target,
): CallOptions['reasoning'] {
  const { reasoning } = settings;
  // Between a call and the answer to its result, older Claude models require the thoughts of the
  // call. If they are missing, reasoning is off until the person's next message.
  const last = messages.findLast(({ role }) => role === 'assistant');
  const isBare = last !== undefined && (last.toolCalls ?? []).length > 0 && !thoughts.sent.has(last);
  if (isBare && hasThinkingBudget(modelId)) return undefined;
  if (provider.kind === 'mistral') return undefined; // see providerOptions
  const isLeast = reasoning === 'none' || reasoning === 'minimal';
  return provider.kind === 'google' && isLeast && !hasMinimalLevel(modelId) ? 'low' : reasoning;
}

/**
 * Claude up to 4.5: thinking has a budget, and an answer before tool results starts with thinking.
 */
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

function providerOptions(request: ModelRequest, target: Target): Pick<CallOptions, 'providerOptions'> {
  const promptCacheKey = cacheKey(request);
  // Nothing is stored at OpenAI, nor at xAI.
  const openai = defined({ promptCacheKey, store: target.api === 'responses' ? false : undefined });
  switch (target.provider.kind) {
    case 'openai':
      return { providerOptions: { openai } };
    case 'azure':
      return { providerOptions: { azure: openai, openai } };
    case 'xai':
      return { providerOptions: { xai: { store: false } } };
    case 'mistral': {
      const reasoningEffort = mistralEffort(target.modelId, request.settings.reasoning);
      return { providerOptions: { mistral: defined({ promptCacheKey, reasoningEffort }) } };
    }
    default:
      return {};
  }
}

type Options = Pick<CallOptions, 'providerOptions'>;

function merged({ providerOptions: a = {} }: Options, { providerOptions: b = {} }: Options): Options {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  if (names.length === 0) return {};
  return { providerOptions: Object.fromEntries(names.map((name) => [name, { ...a[name], ...b[name] }])) };
}
