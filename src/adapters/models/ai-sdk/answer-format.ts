/**
 * Structured output: which models can be held to a JSON Schema by their provider, and how. For the
 * others, the instructions and the check of the answer must suffice. A provider that forces a tool
 * call instead would keep the agent from using its own tools, so it is not asked for structured
 * output.
 */
import type { Provider } from '../../../domain/config/config.js';
import type { JsonSchema, ModelRequest } from '../../../ports/model.js';
import type { CallOptions } from './prompt/types.js';

interface Target {
  provider: Provider;
  modelId: string;
}

type Offer = 'always' | 'without_tools' | 'never';

const OFFERS: Partial<Record<Provider['kind'], readonly [RegExp, Offer][]>> = {
  openai: [[/^(gpt-(4o|4\.1|[5-9])|o\d)/, 'always']],
  azure: [[/./, 'always']],
  anthropic: [[/claude-((opus|sonnet|haiku)-(4-[5-9]|[5-9])|fable|mythos)/, 'always']],
  google: [
    [/^gemini-([3-9]|\d\d)/, 'always'],
    [/^gemini-/, 'without_tools'],
  ],
  xai: [[/^grok-[4-9]/, 'always']],
  mistral: [[/./, 'without_tools']],
  groq: [[/gpt-oss/, 'without_tools']],
};

export function responseFormat(request: ModelRequest, target: Target): Pick<CallOptions, 'responseFormat'> {
  if (!isOffered(request, target)) return {};
  return { responseFormat: { type: 'json', name: 'answer', schema: closed(request.format!) as never } };
}

/** Options that a package needs besides the schema. */
export function formatOptions(request: ModelRequest, target: Target): Pick<CallOptions, 'providerOptions'> {
  if (!isOffered(request, target)) return {};
  const strict = { strictJsonSchema: isStrict(request.format!) };
  switch (target.provider.kind) {
    case 'openai':
      return { providerOptions: { openai: strict } };
    case 'azure':
      return { providerOptions: { azure: strict, openai: strict } };
    case 'anthropic':
      return { providerOptions: { anthropic: { structuredOutputMode: 'outputFormat' } } };
    case 'mistral':
    case 'groq':
      return { providerOptions: { [target.provider.kind]: strict } };
    default:
      return {};
  }
}

function isOffered({ format, tools }: ModelRequest, { provider, modelId }: Target): boolean {
  const offer = OFFERS[provider.kind]?.find(([name]) => name.test(modelId))?.[1] ?? 'never';
  return format !== undefined && (offer === 'always' || (offer === 'without_tools' && tools.length === 0));
}

/** Strict mode requires every property to be present. */
export function isStrict({ properties = {}, required = [], items }: JsonSchema): boolean {
  return (
    Object.keys(properties).every((name) => required.includes(name)) &&
    Object.values(properties).every(isStrict) &&
    (items === undefined || isStrict(items))
  );
}

/** Forbids further properties in every object, as strict mode requires. */
export function closed(schema: JsonSchema): JsonSchema {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(schema.type === 'object' ? { additionalProperties: false } : {}),
    ...(properties
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closed(each)])) }
      : {}),
    ...(items ? { items: closed(items) } : {}),
  };
}
