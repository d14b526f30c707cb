/**
 * Differences between servers of chat completions: the settings that a model accepts, and the shape
 * of a valid history. A setting that a model refuses is left out, because one refused setting would
 * fail every call.
 */
import { needsSeparation } from './prompt/prompt.js';
import type { ModelSettings } from '../../../domain/agent/agent.js';

export interface Dialect {
  settings(settings: ModelSettings, hasTools: boolean): object;
  /** Asks for usage in a stream. Mistral sends it anyway and refuses the option. */
  asksForUsage: boolean;
  /** Fields of an answer that the server wants back on its message. */
  thoughtFields: readonly string[];
  /** Thinking models that demand `reasoning_content` on answers with calls, even if it is empty. */
  demandsThoughts: boolean;
  /** Takes a key that sends calls of one agent to the same cache. */
  hasCacheKey: boolean;
  /** After a tool the assistant speaks, never the user. */
  assistantAfterTool: boolean;
  /** `any`: a tool can be forced. `none`: calls can only be forbidden. Many servers do neither. */
  toolChoice: 'any' | 'none' | 'unknown';
  /** Whether answers can be held to a JSON Schema. With one, local servers cannot call tools. */
  structured: 'always' | 'without_tools' | 'never';
  /** The server or the model belongs to a vendor, or stands in for it. */
  isVendor: boolean;
}

/** A server is recognised by its name or address, a family by the name of the model. */
export function dialectOf(server: { provider: string; baseUrl: string; model: string }): Dialect {
  const { model } = server;
  const place = `${server.provider} ${/^\w+:\/\/([^/]*)/.exec(server.baseUrl)?.[1] ?? ''}`;
  const plain: Dialect = {
    settings: plainSettings,
    asksForUsage: true,
    isVendor: false,
    toolChoice: 'unknown',
    structured: 'without_tools',
    hasCacheKey: false,
    thoughtFields: THOUGHT_FIELDS.find(([name]) => name.test(`${place} ${model}`))?.[1] ?? [],
    demandsThoughts: /deepseek|kimi|moonshot|minimax/i.test(`${place} ${model}`),
    assistantAfterTool: needsSeparation(`${place} ${model}`),
  };
  if (/mistral/i.test(place))
    return {
      ...plain,
      isVendor: true,
      toolChoice: 'any',
      hasCacheKey: true,
      asksForUsage: false,
      settings: mistralSettings(model),
    };
  if (/deepseek/i.test(place))
    return { ...plain, isVendor: true, toolChoice: 'none', structured: 'never', settings: deepseekSettings };
  if (/^(gpt-[34]|chatgpt)/.test(model))
    return {
      ...plain,
      isVendor: true,
      toolChoice: 'any',
      structured: /^gpt-4(o|\.1)/.test(model) ? 'always' : 'never',
      settings: ({ temperature, maxTokens, topP }) => ({ temperature, max_tokens: maxTokens, top_p: topP }),
    };
  const family = OPENAI_FAMILIES.find(([name]) => name.test(model))?.[1];
  return family
    ? {
        ...plain,
        isVendor: true,
        toolChoice: 'any',
        structured: 'always',
        hasCacheKey: /openai/i.test(place),
        settings: openaiSettings(family),
      }
    : plain;
}

/** Only if the server documents it: other servers may refuse an unknown field. */
const THOUGHT_FIELDS: readonly [RegExp, readonly string[]][] = [
  [/openrouter/i, ['reasoning_details']],
  [/kimi|moonshot|minimax/i, ['reasoning_content', 'reasoning_details']],
  [/deepseek|bigmodel|z\.ai/i, ['reasoning_content']],
  [/groq/i, ['reasoning']],
];

function plainSettings({ temperature, maxTokens, topP, topK, reasoning }: ModelSettings): object {
  return {
    temperature,
    max_tokens: maxTokens,
    top_p: topP,
    top_k: topK,
    reasoning_effort: reasoning === 'none' ? undefined : reasoning,
  };
}

interface OpenaiFamily {
  /** The efforts for `none` and `minimal`. */
  least: [none: string, minimal: string];
  /** The model accepts tools only without reasoning. */
  toolsWithoutReasoning?: boolean;
}

const OPENAI_FAMILIES: readonly [RegExp, OpenaiFamily][] = [
  [/^gpt-6(-astra|\.1-sol)/, { least: ['low', 'low'] }],
  [/^gpt-(6|5\.[4-9])/, { least: ['none', 'low'], toolsWithoutReasoning: true }],
  [/^gpt-5\./, { least: ['none', 'low'] }],
  [/^gpt-5/, { least: ['minimal', 'minimal'] }],
  [/^o[134]/, { least: ['low', 'low'] }],
];

/** Models that reason refuse sampling settings and `max_tokens`. */
function openaiSettings({ least, toolsWithoutReasoning }: OpenaiFamily): Dialect['settings'] {
  return ({ temperature, topP, maxTokens, reasoning }, hasTools) => {
    const asked = reasoning === 'none' ? least[0] : reasoning === 'minimal' ? least[1] : reasoning;
    const effort = hasTools && toolsWithoutReasoning ? 'none' : asked;
    return {
      ...(effort === 'none' ? { temperature, top_p: topP } : {}),
      max_completion_tokens: maxTokens,
      reasoning_effort: effort,
    };
  };
}

function mistralSettings(model: string): Dialect['settings'] {
  return ({ temperature, topP, maxTokens, reasoning }) => ({
    temperature,
    top_p: topP,
    max_tokens: maxTokens,
    reasoning_effort: mistralEffort(model, reasoning),
  });
}

/** Mistral Large has three levels, the other models only one. */
export function mistralEffort(model: string, reasoning: ModelSettings['reasoning']): ModelSettings['reasoning'] {
  if (reasoning === undefined || reasoning === 'none') return reasoning;
  if (!/^mistral-large/.test(model)) return 'high';
  return reasoning === 'minimal' ? 'low' : reasoning;
}

function deepseekSettings({ temperature, topP, maxTokens, reasoning }: ModelSettings): object {
  return {
    temperature,
    top_p: topP,
    max_tokens: maxTokens,
    ...(reasoning === 'none' ? { thinking: { type: 'disabled' } } : { reasoning_effort: reasoning }),
  };
}
