/** Requests that Google's generateContent refuses. */
import type { Rules } from './rule.js';

const REFERENCE = 'https://ai.google.dev/api/generate-content';
const SIGNATURES = 'https://ai.google.dev/gemini-api/docs/thought-signatures';
const FUNCTIONS = 'https://ai.google.dev/gemini-api/docs/function-calling';
const THINKING = 'https://ai.google.dev/gemini-api/docs/thinking';
const ERRORS = 'https://ai.google.dev/gemini-api/docs/troubleshooting';

export const RULES: Rules = {
  '2.key': { says: 'A request carries a key.', source: ERRORS },
  '6.json': { says: 'The body is a JSON object.', source: REFERENCE },
  '6.model-known': { says: 'The model exists.', source: ERRORS },
  '6.size': { says: 'A request has at most 20 MB.', source: REFERENCE },
  '6.prompt-length': { says: 'The prompt fits into the context window of the model.', source: ERRORS },
  '6.unknown-field': { says: 'No object has an unknown field.', source: REFERENCE },
  '6.role': { says: 'A role is user or model.', source: REFERENCE, unconfirmed: true },
  '6.parts-not-empty': { says: 'A content has parts, and a part has data.', source: REFERENCE, unconfirmed: true },
  '6.begins-and-ends': {
    says: 'The conversation begins with the user and ends with the user or responses.',
    source: REFERENCE,
    unconfirmed: true,
  },
  '6.call-after-user': {
    says: 'A turn of calls comes right after a user turn or a turn of responses.',
    source: 'https://github.com/google-gemini/gemini-cli/issues/17208',
  },
  '6.as-many-responses': {
    says: 'One content holds as many responses as there were calls.',
    source: 'https://github.com/google-gemini/gemini-cli/issues/17208',
  },
  '6.response-object': { says: 'The response of a function is an object.', source: FUNCTIONS },
  '6.signature-given': {
    says: 'From Gemini 3 on, the first call of each step of the running turn has its thoughtSignature.',
    source: SIGNATURES,
  },
  '6.signature-genuine': {
    says: 'A thoughtSignature returns unchanged, with its call, to the model that made it.',
    source: SIGNATURES,
  },
  '6.thinking-budget': {
    says: 'Gemini 4 has no thinkingBudget; Gemini 3 has a level or a budget, not both.',
    source: THINKING,
  },
  '6.thinking-level': { says: 'thinkingLevel is one that the model knows; Gemini 2.5 has none.', source: THINKING },
  '6.max-output': { says: 'maxOutputTokens is at most 65,536.', source: REFERENCE },
  '6.cached-content': {
    says: 'Gemini 4 has no explicit cachedContent.',
    source: 'https://ai.google.dev/gemini-api/docs/caching',
  },
  '6.schema': {
    says: 'parameters use the OpenAPI subset: no const, oneOf, patternProperties, type lists; enums of strings; arrays with items; no empty properties; required names exist.',
    source: FUNCTIONS,
  },
  '6.function-name': {
    says: 'A function name begins with a letter or underscore and is unique.',
    source: FUNCTIONS,
    unconfirmed: true,
  },
};
