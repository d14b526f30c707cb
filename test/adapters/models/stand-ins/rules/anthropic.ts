/** Requests that Anthropic's Messages API refuses. */
import type { Rules } from './rule.js';

const ERRORS = 'https://platform.claude.com/docs/en/api/errors';
const MESSAGES = 'https://platform.claude.com/docs/en/api/messages';
const OPUS_5_5 = 'https://platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5';
const FABLE_5_1 = 'https://platform.claude.com/docs/en/models/fable-5-1/whats-new-fable-5-1';
const THINKING = 'https://platform.claude.com/docs/en/build-with-claude/extended-thinking';
const PRESERVED = 'https://platform.claude.com/docs/en/build-with-claude/preserved-thinking';
const CACHING = 'https://platform.claude.com/docs/en/build-with-claude/prompt-caching';
const TOOLS = 'https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use';

export const RULES: Rules = {
  '2.key': { says: 'A request carries a key.', source: ERRORS },
  '2.version': { says: 'A request carries the header anthropic-version.', source: MESSAGES },
  '3.json': { says: 'The body is a JSON object.', source: ERRORS },
  '3.model-known': { says: 'The model exists.', source: ERRORS },
  '3.size': { says: 'A request has at most 32 MB.', source: ERRORS },
  '3.prompt-length': { says: 'The prompt fits into the context window of the model.', source: ERRORS },
  '3-request.max-tokens-given': { says: 'max_tokens is required.', source: MESSAGES },
  '3-request.max-tokens-limit': { says: 'max_tokens is at most the output limit of the model.', source: MESSAGES },
  '3-request.unknown-field': {
    says: 'No object has an unknown field.',
    source: 'https://github.com/anthropics/claude-code/issues/4378',
  },
  '3-request.first-user': { says: 'The first message is from the user.', source: MESSAGES, unconfirmed: true },
  '3-request.system-role': {
    says: 'Only some models accept the role system inside the conversation.',
    source: OPUS_5_5,
  },
  '3-request.role': { says: 'A role is user or assistant.', source: MESSAGES },
  '3-request.last-user': { says: 'From Claude 4.6 on, the last message is not from the assistant.', source: ERRORS },
  '3-request.text-not-blank': { says: 'A text block has more than white space.', source: MESSAGES },
  '3-request.message-not-empty': { says: 'A message has content.', source: MESSAGES },
  '3-request.result-follows-call': {
    says: 'The message after tool_use begins with its tool_result blocks.',
    source: TOOLS,
  },
  '3-request.call-before-result': {
    says: 'A tool_result answers a tool_use of the message before it.',
    source: TOOLS,
    unconfirmed: true,
  },
  '3-request.one-result': { says: 'A tool_use has one tool_result.', source: TOOLS, unconfirmed: true },
  '3-request.call-id': {
    says: 'A tool_use id has letters, digits, - and _ only, and is unique.',
    source: MESSAGES,
    unconfirmed: true,
  },
  '3-request.call-input': { says: 'The input of a tool_use is an object.', source: MESSAGES, unconfirmed: true },
  '3-request.tools-defined': { says: 'A conversation with tool blocks defines tools.', source: TOOLS },
  '3-request.tool-name': {
    says: 'A tool name has 1 to 128 letters, digits, - and _.',
    source: TOOLS,
    unconfirmed: true,
  },
  '3-request.tool-unique': { says: 'Tool names are unique.', source: TOOLS, unconfirmed: true },
  '3-request.tool-schema': {
    says: 'input_schema is an object schema without oneOf, allOf or anyOf at its top.',
    source: TOOLS,
    unconfirmed: true,
  },
  '3-request.sampling': { says: 'Models from Opus 4.7 on refuse temperature, top_p and top_k.', source: FABLE_5_1 },
  '3-request.temperature-thinking': { says: 'On older models, temperature is 1 while thinking.', source: THINKING },
  '3-request.temperature-or-top-p': {
    says: 'On older models, temperature and top_p exclude each other.',
    source: MESSAGES,
  },
  '3-request.forced-tool': { says: '5.1 and 5.5 models refuse forced tools.', source: OPUS_5_5 },
  '3-input.image-type': {
    says: 'An image is JPEG, PNG, GIF or WebP.',
    source: 'https://platform.claude.com/docs/en/build-with-claude/vision',
  },
  '3-thinking.disabled': { says: 'Models that always think refuse disabled thinking.', source: OPUS_5_5 },
  '3-thinking.disabled-effort': {
    says: 'Opus 5 and Haiku 5.5 refuse disabled thinking above effort high.',
    source: OPUS_5_5,
  },
  '3-thinking.budget': { says: 'Models from Opus 4.7 on refuse a thinking budget.', source: OPUS_5_5 },
  '3-thinking.between-tools': { says: 'Only Sonnet 5.5 accepts between_tools.', source: OPUS_5_5 },
  '3-thinking.adaptive': { says: 'Models up to 4.5 refuse adaptive thinking.', source: ERRORS },
  '3-thinking.budget-minimum': { says: 'A thinking budget has at least 1,024 tokens.', source: THINKING },
  '3-thinking.budget-below-max': { says: 'A thinking budget is below max_tokens.', source: THINKING },
  '3-thinking.effort': { says: 'Effort is low, medium, high, xhigh or max.', source: OPUS_5_5 },
  '3-thinking.unchanged': { says: 'The thoughts of the last answer return complete and unchanged.', source: ERRORS },
  '3-thinking.signature-given': { says: 'A thinking block has a signature.', source: ERRORS },
  '3-thinking.signature-genuine': { says: 'A signature is one that the model made.', source: ERRORS },
  '3-thinking.not-last': { says: 'A thought is not the last block of a message.', source: ERRORS },
  '3-thinking.budget-starts': {
    says: 'With a budget, an answer before tool results begins with its thoughts.',
    source: THINKING,
  },
  '3-thinking.bound': {
    says: 'The messages before a thought are unchanged since the thought was made.',
    source: PRESERVED,
  },
  '3-thinking.no-gap': {
    says: 'Thoughts are dropped from the beginning only, not from the middle.',
    source: FABLE_5_1,
  },
  '3-thinking.binding-beta': { says: 'thinking.block_binding needs its beta header.', source: PRESERVED },
  '3-caching.four-marks': { says: 'A request has at most four cache_control marks.', source: CACHING },
  '3-caching.ttl': { says: 'The ttl of a mark is 5m or 1h.', source: CACHING },
  '3-caching.ttl-order': { says: 'Marks of 1h come before marks of 5m.', source: CACHING },
  '3-caching.not-on-thoughts': { says: 'A thought carries no cache_control.', source: CACHING },
};
