/** Requests that OpenAI's chat completions refuse. */
import type { Rules } from './rule.js';

const REFERENCE = 'https://platform.openai.com/docs/api-reference/chat/create';
const CHECKLIST = 'https://developers.openai.com/api/docs/guides/deployment-checklist';
const TOOLS = 'https://platform.openai.com/docs/guides/function-calling';
const CACHING = 'https://developers.openai.com/api/docs/guides/prompt-caching';

export const RULES: Rules = {
  '2.key': { says: 'A request carries a key.', source: REFERENCE },
  '5.json': { says: 'The body is a JSON object.', source: REFERENCE },
  '5.model-known': { says: 'The model exists.', source: REFERENCE },
  '5.prompt-length': { says: 'The prompt fits into the context window of the model.', source: REFERENCE },
  '5.tools-need-responses': {
    says: 'From GPT-5.4 on, tools and reasoning do not go together here; GPT-6 Astra and GPT-6.1 Sol have no tools here at all.',
    source: CHECKLIST,
  },
  '5.max-completion-tokens': { says: 'From GPT-5 on, max_completion_tokens replaces max_tokens.', source: REFERENCE },
  '5.temperature': { says: 'A model that reasons accepts no temperature but 1, and no top_p.', source: CHECKLIST },
  '5.effort': { says: 'reasoning_effort is one that the model knows.', source: CHECKLIST },
  '5.results-follow-calls': {
    says: 'All tool messages follow their calls before anybody else speaks.',
    source: TOOLS,
    unconfirmed: true,
  },
  '5.call-before-result': { says: 'A tool message answers a call before it.', source: TOOLS, unconfirmed: true },
  '5.call-id-length': {
    says: 'A call id has at most 40 characters.',
    source: 'https://github.com/anomalyco/opencode/issues/12653',
  },
  '5.content-null': { says: 'content is null only beside tool calls.', source: REFERENCE },
  '5.empty-list': { says: 'tools and tool_calls are not empty.', source: REFERENCE },
  '5.tool-choice-alone': { says: 'tool_choice needs tools.', source: REFERENCE },
  '5.stream-options-alone': { says: 'stream_options needs stream.', source: REFERENCE },
  '5.unknown-field': { says: 'No unknown field, such as top_k.', source: REFERENCE },
  '5.foreign-thoughts': { says: 'Messages carry no thoughts of other providers.', source: REFERENCE },
  '5.tool-name': { says: 'A tool name has at most 64 letters, digits, - and _.', source: TOOLS },
  '5.tool-schema': { says: 'Parameters are an object schema whose arrays have items.', source: TOOLS },
  '5.cache-fields': {
    says: 'Explicit cache fields belong to GPT-5.6 and later; in_memory retention to earlier ones.',
    source: CACHING,
  },
};
