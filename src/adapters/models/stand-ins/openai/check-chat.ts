/** Checks a chat-completions request against the family of its model. */
import { callGroups } from '../chat/results.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { bracketed, fields, unknownFields, type Shape } from '../wire/shape.js';
import { reasons, type Family } from './families.js';
import { checkTool } from './tools.js';

type Refuse = Judge['refuse'];

const REQUEST: Shape = {
  ...fields(
    'model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice top_logprobs top_p user verbosity web_search_options',
  ),
  tools: [{ type: true, function: fields('name description parameters strict'), custom: true }],
  messages: [fields('role content name refusal tool_calls tool_call_id function_call audio')],
};

export function checkChat(body: Json, family: Family, { refuse }: Judge): void {
  checkFields(body, refuse);
  checkModel(body, family, refuse);
  checkLists(body, refuse);
  checkMessages(objectsIn(body['messages']), refuse);
}

const THOUGHTS = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking'];

function checkFields(body: Json, refuse: Refuse): void {
  for (const path of unknownFields(body, REQUEST)) {
    const name = bracketed(path);
    if (path.length === 1) refuse('5.unknown-field', `Unrecognized request argument supplied: ${name}`);
    else
      refuse(
        THOUGHTS.includes(String(path.at(-1))) ? '5.foreign-thoughts' : '5.unknown-field',
        `Unknown parameter: '${name}'.`,
        { param: name, code: 'unknown_parameter' },
      );
  }
}

function checkModel(body: Json, family: Family, refuse: Refuse): void {
  const model = stringOf(body['model']);
  const effort = body['reasoning_effort'];
  const unsupported = { code: 'unsupported_parameter' };
  if (effort !== undefined && family.efforts.length === 0)
    refuse('5.effort', `Unrecognized request argument supplied: reasoning_effort`);
  else if (effort !== undefined && !family.efforts.includes(stringOf(effort)))
    refuse(
      '5.effort',
      `Unsupported value: 'reasoning_effort' does not support '${stringOf(effort)}' with this model. Supported values are: ${family.efforts.map((each) => `'${each}'`).join(', ')}.`,
      { param: 'reasoning_effort', code: 'unsupported_value' },
    );
  if (body['tools'] !== undefined && family.chatTools !== 'always')
    if (family.chatTools === 'never' || reasons(family, effort))
      refuse(
        '5.tools-need-responses',
        `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
        { param: 'reasoning_effort' },
      );
  if (body['max_tokens'] !== undefined && family.efforts.length > 0)
    refuse(
      '5.max-completion-tokens',
      `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`,
      { param: 'max_tokens', ...unsupported },
    );
  if (reasons(family, effort)) checkSampling(body, refuse);
  checkCacheFields(body, family, refuse);
}

function checkSampling(body: Json, refuse: Refuse): void {
  const { temperature } = body;
  if (temperature !== undefined && temperature !== 1)
    refuse(
      '5.temperature',
      `Unsupported value: 'temperature' does not support ${JSON.stringify(temperature)} with this model. Only the default (1) value is supported.`,
      { param: 'temperature', code: 'unsupported_value' },
    );
  if (body['top_p'] !== undefined)
    refuse('5.temperature', `Unsupported parameter: 'top_p' is not supported with this model.`, {
      param: 'top_p',
      code: 'unsupported_parameter',
    });
}

function checkCacheFields(body: Json, family: Family, refuse: Refuse): void {
  const param = family.explicitCache ? 'prompt_cache_retention' : 'prompt_cache_options';
  const isRefused = family.explicitCache ? body[param] === 'in_memory' : body[param] !== undefined;
  if (isRefused)
    refuse('5.cache-fields', `Unsupported parameter: '${param}' is not supported with this model.`, {
      param,
      code: 'unsupported_parameter',
    });
}

function checkLists(body: Json, refuse: Refuse): void {
  const tools = body['tools'];
  if (Array.isArray(tools) && tools.length === 0) refuse('5.empty-list', emptyList('tools'), { param: 'tools' });
  if (body['tool_choice'] !== undefined && tools === undefined)
    refuse(
      '5.tool-choice-alone',
      `Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.`,
      {
        param: 'tool_choice',
      },
    );
  if (body['stream_options'] !== undefined && body['stream'] !== true)
    refuse('5.stream-options-alone', `The 'stream_options' parameter is only allowed when 'stream' is enabled.`, {
      param: 'stream_options',
    });
  for (const [at, tool] of objectsIn(tools).entries()) {
    const schema = (message: string) =>
      refuse('5.tool-schema', message, {
        param: `tools[${at}].function.parameters`,
        code: 'invalid_function_parameters',
      });
    checkTool(objectOf(tool['function']), at, {
      name: () =>
        refuse(
          '5.tool-name',
          `Invalid 'tools[${at}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          { param: `tools[${at}].function.name`, code: 'invalid_value' },
        ),
      schema,
      strict: schema,
    });
  }
}

function checkMessages(messages: readonly Json[], refuse: Refuse): void {
  for (const [at, message] of messages.entries()) {
    const calls = message['tool_calls'];
    if (Array.isArray(calls) && calls.length === 0)
      refuse('5.empty-list', emptyList(`messages[${at}].tool_calls`), { param: `messages[${at}].tool_calls` });
    if ((message['content'] ?? null) === null && calls === undefined)
      refuse('5.content-null', `Invalid value for 'content': expected a string, got null.`, {
        param: `messages.[${at}].content`,
      });
    for (const [index, { id }] of objectsIn(calls).entries())
      if (stringOf(id).length > 40)
        refuse(
          '5.call-id-length',
          `Invalid 'messages[${at}].tool_calls[${index}].id': string too long. Expected a string with maximum length 40, but got a string with length ${stringOf(id).length} instead.`,
          { param: `messages[${at}].tool_calls[${index}].id`, code: 'string_above_max_length' },
        );
  }
  const { groups, orphans } = callGroups(messages);
  for (const { ids, results } of groups) {
    const open = ids.filter((id) => !results.includes(id));
    if (open.length > 0)
      refuse(
        '5.results-follow-calls',
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
        { param: 'messages' },
      );
  }
  for (const { at } of orphans)
    refuse(
      '5.call-before-result',
      `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`,
      { param: `messages.[${at}].role` },
    );
}

function emptyList(name: string): string {
  return `Invalid '${name}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
}
