/** Checks fields, settings and tools of a Responses request. */
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { bracketed, fields, unknownFields, type Shape } from '../wire/shape.js';
import { reasons, type Family } from './families.js';
import { checkSchema, checkTool } from './tools.js';

type Refuse = Judge['refuse'];

const PART: Shape = fields(
  'type text annotations logprobs refusal image_url detail file_id file_data file_url filename prompt_cache_breakpoint',
);
const ITEMS: Readonly<Record<string, Shape>> = {
  message: { ...fields('type role id status phase'), content: [PART] },
  function_call: fields('type id call_id name arguments status namespace'),
  function_call_output: fields('type id call_id output status'),
  reasoning: fields('type id summary content encrypted_content status'),
  item_reference: fields('type id'),
};

const REQUEST: Shape = {
  ...fields(
    'model instructions include store stream stream_options tool_choice parallel_tool_calls temperature top_p max_output_tokens max_tool_calls metadata previous_response_id conversation prompt prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier truncation top_logprobs user background context_management moderation',
  ),
  reasoning: fields('effort summary generate_summary context'),
  text: fields('format verbosity'),
  tools: [
    (tool) => (tool['type'] === 'function' ? fields('type name description parameters strict defer_loading') : true),
  ],
  input: [(item) => ITEMS[stringOf(item['type'] ?? 'message')] ?? true],
};

export function checkRequest(body: Json, family: Family, { refuse }: Judge): void {
  for (const path of unknownFields(body, REQUEST)) {
    const param = bracketed(path);
    refuse('4.unknown-field', `Unknown parameter: '${param}'.`, { param, code: 'unknown_parameter' });
  }
  checkSettings(body, family, refuse);
  checkTools(body, refuse);
  checkFormat(body, refuse);
}

function checkSettings(body: Json, family: Family, refuse: Refuse): void {
  const { effort } = objectOf(body['reasoning']);
  const unsupported = (param: string) =>
    [
      `Unsupported parameter: '${param}' is not supported with this model.`,
      { param, code: 'unsupported_parameter' },
    ] as const;
  if (effort !== undefined && effort !== null && !family.efforts.includes(stringOf(effort)))
    refuse(
      '4.effort',
      `Unsupported value: '${stringOf(effort)}' is not supported with the '${stringOf(body['model'])}' model. Supported values are: ${family.efforts.map((each) => `'${each}'`).join(', ')}.`,
      { param: 'reasoning.effort', code: 'unsupported_value' },
    );
  for (const param of ['temperature', 'top_p'])
    if (body[param] !== undefined && reasons(family, effort)) refuse('4.sampling', ...unsupported(param));
  const limit = body['max_output_tokens'];
  if (typeof limit === 'number' && limit < 16)
    refuse(
      '4.max-output-tokens',
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${limit} instead.`,
      { param: 'max_output_tokens', code: 'integer_below_min_value' },
    );
  const include = Array.isArray(body['include']) ? body['include'] : [];
  if (include.includes('reasoning.encrypted_content') && family.efforts.length === 0)
    refuse('4.encrypted-supported', 'Encrypted content is not supported with this model.', { param: 'include' });
  const isMarked = objectsIn(body['input']).some((item) =>
    objectsIn(item['content']).some((part) => part['prompt_cache_breakpoint'] !== undefined),
  );
  if (!family.explicitCache && (body['prompt_cache_options'] !== undefined || isMarked))
    refuse('4.cache-fields', ...unsupported('prompt_cache_options'));
  if (family.explicitCache && body['prompt_cache_retention'] === 'in_memory')
    refuse('4.cache-fields', ...unsupported('prompt_cache_retention'));
}

function checkFormat(body: Json, refuse: Refuse): void {
  const format = objectOf(objectOf(body['text'])['format']);
  if (format['type'] !== 'json_schema') return;
  const invalid = { param: 'text.format.schema', code: 'invalid_json_schema' };
  const fault = (message: string): void => refuse('4.strict-schema', message, invalid);
  const intro = `Invalid schema for response_format '${stringOf(format['name'])}': `;
  checkSchema(intro, format['schema'], format['strict'] === true, { schema: fault, strict: fault });
}

function checkTools(body: Json, refuse: Refuse): void {
  const { tools } = body;
  if (Array.isArray(tools) && (tools.length === 0 || tools.length > 128))
    refuse(
      '4.tool-count',
      tools.length === 0
        ? `Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.`
        : `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
      { param: 'tools' },
    );
  for (const [at, tool] of objectsIn(tools).entries()) {
    if (tool['type'] !== 'function') continue;
    const invalid = { param: `tools[${at}].parameters`, code: 'invalid_function_parameters' };
    checkTool(tool, at, {
      name: () =>
        tool['name'] === undefined
          ? refuse('4.tool-name', `Missing required parameter: 'tools[${at}].name'.`, {
              param: `tools[${at}].name`,
              code: 'missing_required_parameter',
            })
          : refuse(
              '4.tool-name',
              `Invalid 'tools[${at}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
              { param: `tools[${at}].name`, code: 'invalid_value' },
            ),
      schema: (message) => refuse('4.tool-schema', message, invalid),
      strict: (message) => refuse('4.strict-schema', message, invalid),
    });
  }
}
