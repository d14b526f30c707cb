/** Requests that OpenAI's Responses API refuses. */
import type { Rules } from './rule.js';

const REFERENCE = 'https://platform.openai.com/docs/api-reference/responses/create';
const CHECKLIST = 'https://developers.openai.com/api/docs/guides/deployment-checklist';
const REASONING = 'https://platform.openai.com/docs/guides/reasoning';
const TOOLS = 'https://platform.openai.com/docs/guides/function-calling';
const CACHING = 'https://developers.openai.com/api/docs/guides/prompt-caching';

export const RULES: Rules = {
  '2.key': { says: 'A request carries a key.', source: REFERENCE },
  '4.json': { says: 'The body is a JSON object.', source: REFERENCE },
  '4.model-known': { says: 'The model exists.', source: REFERENCE },
  '4.prompt-length': { says: 'The input fits into the context window of the model.', source: REFERENCE },
  '4.unknown-field': { says: 'No object has an unknown field.', source: REFERENCE },
  '4.effort': { says: 'reasoning.effort is one that the model knows.', source: CHECKLIST },
  '4.sampling': { says: 'A model that reasons accepts no temperature and no top_p.', source: CHECKLIST },
  '4.max-output-tokens': { says: 'max_output_tokens is at least 16.', source: REFERENCE },
  '4.part-type': {
    says: 'Users send input_text, input_image and input_file; assistants output_text and refusal.',
    source: REFERENCE,
  },
  '4.call-has-output': { says: 'Each function_call has one function_call_output.', source: TOOLS },
  '4.output-has-call': { says: 'Each function_call_output answers a function_call.', source: TOOLS },
  '4.call-id-length': {
    says: 'A call_id has at most 64 characters.',
    source: 'https://github.com/AnswerDotAI/fastllm/issues/45',
  },
  '4.item-id': { says: 'Ids of items begin with fc, rs or msg.', source: REFERENCE, unconfirmed: true },
  '4.thought-followed': { says: 'A reasoning item is followed by what it led to.', source: REASONING },
  '4.thought-required': { says: 'A stored function_call comes with its reasoning item.', source: REASONING },
  '4.thought-persisted': {
    says: 'With store: false, a reasoning item carries its encrypted_content.',
    source: 'https://github.com/maximhq/bifrost/issues/5410',
  },
  '4.encrypted-supported': { says: 'Only models that reason have encrypted content.', source: REASONING },
  '4.encrypted-genuine': {
    says: 'Encrypted content returns unchanged, to the same family of models.',
    source: REASONING,
  },
  '4.summary': { says: 'A reasoning item has a summary, possibly empty.', source: REFERENCE },
  '4.tool-name': { says: 'A tool is flat and its name has at most 64 letters, digits, - and _.', source: TOOLS },
  '4.tool-count': { says: 'There are 1 to 128 tools if the field is there.', source: REFERENCE },
  '4.tool-schema': { says: 'Parameters are an object schema whose arrays have items.', source: TOOLS },
  '4.strict-schema': {
    says: 'With strict, objects forbid other properties and require all of theirs.',
    source: 'https://platform.openai.com/docs/guides/structured-outputs',
  },
  '4.cache-fields': {
    says: 'Explicit cache fields belong to GPT-5.6 and later; in_memory retention to earlier ones.',
    source: CACHING,
  },
};
