/** The fields of a Messages request. */
import { stringOf } from '../wire/json.js';
import { fields, type Shape } from '../wire/shape.js';

const CACHE: Shape = fields('type ttl');
const TEXT: Shape = { ...fields('type text citations'), cache_control: CACHE };

const RESULT_CONTENT: Shape = [
  (block) =>
    block['type'] === 'text' ? TEXT : { ...fields('type source title context citations'), cache_control: CACHE },
];

const BLOCKS: Readonly<Record<string, Shape>> = {
  text: TEXT,
  image: { ...fields('type source'), cache_control: CACHE },
  document: { ...fields('type source title context citations'), cache_control: CACHE },
  thinking: fields('type thinking signature'),
  redacted_thinking: fields('type data'),
  tool_use: { ...fields('type id name input caller'), cache_control: CACHE },
  tool_result: { ...fields('type tool_use_id is_error'), content: RESULT_CONTENT, cache_control: CACHE },
};

const CONTENT: Shape = [(block) => BLOCKS[stringOf(block['type'])] ?? true];

const TOOL: Shape = (tool) =>
  tool['type'] === undefined || tool['type'] === 'custom'
    ? {
        ...fields(
          'type name description input_schema strict eager_input_streaming defer_loading input_examples allowed_callers',
        ),
        cache_control: CACHE,
      }
    : true;

export const REQUEST: Shape = {
  ...fields(
    'model max_tokens metadata stop_sequences stream temperature top_p top_k service_tier container inference_geo',
  ),
  cache_control: CACHE,
  system: [TEXT],
  messages: [{ role: true, content: CONTENT }],
  tools: [TOOL],
  tool_choice: fields('type name disable_parallel_tool_use'),
  thinking: { ...fields('type budget_tokens display'), block_binding: fields('prefix_mismatch_behavior') },
  output_config: fields('effort format task_budget'),
};
