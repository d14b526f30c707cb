/** Requests that DeepSeek's chat completions refuse. Unknown fields are ignored. */
import type { Rules } from './rule.js';

const REFERENCE = 'https://api-docs.deepseek.com/api/create-chat-completion';
const ERRORS = 'https://api-docs.deepseek.com/quick_start/error_codes';
const THINKING = 'https://api-docs.deepseek.com/guides/thinking_mode';
const JSON_MODE = 'https://api-docs.deepseek.com/guides/json_mode';

export const RULES: Rules = {
  '2.key': { says: 'A request carries a key.', source: ERRORS },
  '8.json': { says: 'The body is a JSON object.', source: ERRORS },
  '8.model-known': { says: 'The model exists; deepseek-chat and deepseek-reasoner ended.', source: ERRORS },
  '8.prompt-length': { says: 'The prompt fits into the context window of the model.', source: REFERENCE },
  '8.reasoning-content': {
    says: 'While thinking, every assistant message with tool calls carries its reasoning_content.',
    source: THINKING,
  },
  '8.results-follow-calls': { says: 'Tool messages follow their calls.', source: REFERENCE, unconfirmed: true },
  '8.call-before-result': { says: 'A tool message answers a call before it.', source: REFERENCE, unconfirmed: true },
  '8.forced-tool': { says: 'While thinking, tool_choice is auto or none.', source: THINKING, unconfirmed: true },
  '8.json-word': { says: 'JSON mode needs the word json in the prompt.', source: JSON_MODE },
};
