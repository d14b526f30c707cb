/** Requests that Mistral's chat completions refuse. */
import type { Rules } from './rule.js';

const REFERENCE = 'https://docs.mistral.ai/api';
const REASONING = 'https://docs.mistral.ai/inference/conversations/reasoning';

export const RULES: Rules = {
  '2.key': { says: 'A request carries a key.', source: REFERENCE },
  '7.json': { says: 'The body is a JSON object.', source: REFERENCE },
  '7.model-known': { says: 'The model exists.', source: REFERENCE },
  '7.prompt-length': { says: 'The prompt fits into the context window of the model.', source: REFERENCE },
  '7.call-id': {
    says: 'Ids of calls and results have nine letters and digits.',
    source: 'https://github.com/editor-code-assistant/eca/issues/233',
  },
  '7.unknown-field': {
    says: 'No unknown field in the request, such as max_completion_tokens, store or top_k.',
    source: 'https://github.com/openai/openai-agents-python/issues/442',
  },
  '7.stream-options': {
    says: 'stream_options is empty or absent.',
    source: 'https://github.com/editor-code-assistant/eca/issues/231',
  },
  '7.message-field': {
    says: 'Messages have no reasoning_content, and only results of tools have a name.',
    source: 'https://github.com/charmbracelet/crush/issues/1590',
  },
  '7.empty-tools': {
    says: 'tools is absent or not empty.',
    source: 'https://github.com/partITech/php-mistral/issues/76',
  },
  '7.user-after-tool': {
    says: 'After a tool message the assistant speaks, never the user.',
    source: 'https://github.com/datapizza-labs/datapizza-ai/issues/98',
  },
  '7.as-many-results': {
    says: 'There are as many results as calls.',
    source: 'https://github.com/0xPlaygrounds/rig/issues/1130',
  },
  '7.last-role': {
    says: 'The last message is from the user or a tool.',
    source: 'https://github.com/0xPlaygrounds/rig/issues/1130',
  },
  '7.assistant-empty': { says: 'An assistant message has text or calls.', source: REFERENCE, unconfirmed: true },
  '7.effort': { says: 'reasoning_effort is none or high; low and medium belong to Large 4.', source: REASONING },
};
