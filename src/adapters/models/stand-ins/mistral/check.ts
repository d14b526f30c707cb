/** Checks a request to Mistral. */
import { contentText } from '../chat/request.js';
import { objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { fields, unknownFields, type Path, type Shape } from '../wire/shape.js';

type Refuse = Judge['refuse'];

const CALL: Shape = { ...fields('id type index'), function: fields('name arguments') };
const MESSAGES: Readonly<Record<string, Shape>> = {
  system: fields('role content'),
  user: fields('role content'),
  assistant: { ...fields('role content prefix'), tool_calls: [CALL] },
  tool: fields('role content tool_call_id name'),
};

const REQUEST: Shape = {
  ...fields(
    'model temperature top_p max_tokens stream stop random_seed metadata response_format tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls reasoning_effort prompt_mode guardrails prompt_cache_key safe_prompt',
  ),
  stream_options: {},
  tools: [{ type: true, function: fields('name description parameters strict') }],
  messages: [(message) => MESSAGES[stringOf(message['role'])] ?? true],
};

export function checkMistral(body: Json, { refuse }: Judge): void {
  const extra = unknownFields(body, REQUEST);
  for (const path of extra)
    refuse(
      ruleOf(path),
      'Extra inputs are not permitted',
      invalid('extra_forbidden', path, 'Extra inputs are not permitted'),
    );
  const { tools } = body;
  if (Array.isArray(tools) && tools.length === 0) {
    const text = 'List should have at least 1 item after validation, not 0';
    refuse('7.empty-tools', text, invalid('too_short', ['tools'], text));
  }
  const messages = objectsIn(body['messages']);
  for (const message of messages) checkIds(message, refuse);
  checkEffort(body, refuse);
  checkOrder(messages, refuse);
}

function ruleOf(path: Path): string {
  if (path[0] === 'messages') return '7.message-field';
  return path[0] === 'stream_options' ? '7.stream-options' : '7.unknown-field';
}

function invalid(type: string, path: Path, msg: string) {
  return { status: 422, details: [{ type, loc: ['body', ...path], msg }] };
}

function checkIds(message: Json, refuse: Refuse): void {
  const calls = objectsIn(message['tool_calls']).map(({ id }) => id);
  for (const id of message['role'] === 'tool' ? [message['tool_call_id']] : calls)
    if (!/^[a-zA-Z0-9]{9}$/.test(stringOf(id)))
      refuse('7.call-id', `Tool call id was ${stringOf(id)} but must be a-z, A-Z, 0-9, with a length of 9.`, {
        type: 'invalid_function_call',
        code: '3280',
      });
}

function checkEffort(body: Json, refuse: Refuse): void {
  const effort = body['reasoning_effort'];
  const isLarge = /^mistral-large/.test(stringOf(body['model']));
  const known = isLarge ? ['none', 'low', 'medium', 'high'] : ['none', 'high'];
  if (effort === undefined || effort === null || known.includes(stringOf(effort))) return;
  const text = `Input should be ${known.map((each) => `'${each}'`).join(' or ')}`;
  refuse('7.effort', text, invalid('enum', ['reasoning_effort'], text));
}

function checkOrder(messages: readonly Json[], refuse: Refuse): void {
  const order = { type: 'invalid_request_message_order', code: '3230' };
  for (const [at, message] of messages.entries()) {
    const { role } = message;
    const before = messages[at - 1]?.['role'];
    if (before === 'tool' && role !== 'tool' && role !== 'assistant')
      refuse('7.user-after-tool', `Unexpected role '${stringOf(role)}' after role 'tool'`, order);
    if (role !== 'assistant') continue;
    const calls = objectsIn(message['tool_calls']).length;
    if (calls === 0 && contentText(message['content']) === '' && objectsIn(message['content']).length === 0)
      refuse('7.assistant-empty', 'Assistant message must have either content or tool_calls, but not none.', {
        type: 'invalid_request_assistant_message',
        code: '3240',
      });
    const results = messages.slice(at + 1).findIndex((next) => next['role'] !== 'tool');
    const count = results === -1 ? messages.length - at - 1 : results;
    if (calls !== count) refuse('7.as-many-results', 'Not the same number of function calls and responses', order);
  }
  const last = messages.at(-1);
  if (last?.['role'] !== 'user' && last?.['role'] !== 'tool' && last?.['prefix'] !== true)
    refuse(
      '7.last-role',
      `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${stringOf(last?.['role'])}`,
      order,
    );
}
