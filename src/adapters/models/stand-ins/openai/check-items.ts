/** Checks the items of a Responses request: parts, calls and outputs, reasoning. */
import { objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { unseal } from '../wire/seal.js';
import type { Family } from './families.js';

type Refuse = Judge['refuse'];

/** Items that the stand-in keeps for requests with `store`, by id. */
type Stored = ReadonlyMap<string, { item: Json; reasoning?: string }>;

export function checkItems(
  items: readonly Json[],
  body: Json,
  family: Family,
  stored: Stored,
  { refuse }: Judge,
): void {
  for (const [at, item] of items.entries()) {
    const type = stringOf(item['type'] ?? 'message');
    if (type === 'message') checkParts(item, at, refuse);
    if (type === 'reasoning') checkReasoning(item, at, items, { body, family, stored }, refuse);
    checkIds(item, type, at, refuse);
  }
  checkCalls(items, refuse);
  checkTogether(items, stored, refuse);
}

function checkParts(item: Json, at: number, refuse: Refuse): void {
  const known = item['role'] === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  for (const [index, { type }] of objectsIn(item['content']).entries())
    if (!known.includes(stringOf(type)))
      refuse(
        '4.part-type',
        `Invalid value: '${stringOf(type)}'. Supported values are: ${known.map((each) => `'${each}'`).join(', ')}.`,
        { param: `input[${at}].content[${index}].type`, code: 'invalid_value' },
      );
}

const PREFIXES: Record<string, string> = { message: 'msg', function_call: 'fc', reasoning: 'rs' };

function checkIds(item: Json, type: string, at: number, refuse: Refuse): void {
  const prefix = PREFIXES[type];
  const { id } = item;
  if (prefix !== undefined && typeof id === 'string' && !id.startsWith(prefix))
    refuse('4.item-id', `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`, {
      param: `input[${at}].id`,
      code: 'invalid_value',
    });
  const callId = stringOf(item['call_id']);
  if (callId.length > 64)
    refuse(
      '4.call-id-length',
      `Invalid 'input[${at}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${callId.length} instead.`,
      { param: `input[${at}].call_id`, code: 'string_above_max_length' },
    );
}

function checkReasoning(
  item: Json,
  at: number,
  items: readonly Json[],
  { body, family, stored }: { body: Json; family: Family; stored: Stored },
  refuse: Refuse,
): void {
  const id = stringOf(item['id']);
  const encrypted = item['encrypted_content'];
  if (!Array.isArray(item['summary']))
    refuse('4.summary', `Missing required parameter: 'input[${at}].summary'.`, {
      param: `input[${at}].summary`,
      code: 'missing_required_parameter',
    });
  if (typeof encrypted === 'string') {
    if (unseal(encrypted)?.['family'] !== family.name)
      refuse(
        '4.encrypted-genuine',
        `The encrypted content ${encrypted.slice(0, 8)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
        { code: 'invalid_encrypted_content' },
      );
  } else if (body['store'] === false || !stored.has(id))
    refuse(
      '4.thought-persisted',
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      { status: 404, param: 'input' },
    );
  const next = items[at + 1];
  const isFollowed =
    next?.['type'] === 'function_call' || next?.['type'] === 'reasoning' || next?.['role'] === 'assistant';
  if (!isFollowed)
    refuse('4.thought-followed', `Item '${id}' of type 'reasoning' was provided without its required following item.`, {
      param: 'input',
    });
}

function checkCalls(items: readonly Json[], refuse: Refuse): void {
  const idsOf = (type: string) => items.filter((item) => item['type'] === type).map(({ call_id }) => stringOf(call_id));
  const [calls, outputs] = [idsOf('function_call'), idsOf('function_call_output')];
  for (const id of calls)
    if (!outputs.includes(id))
      refuse('4.call-has-output', `No tool output found for function call ${id}.`, { param: 'input' });
  for (const [at, id] of outputs.entries())
    if (!calls.includes(id) || outputs.indexOf(id) !== at)
      refuse('4.output-has-call', `No tool call found for function call output with call_id ${id}.`, {
        param: 'input',
      });
}

/** Stored calls record the thought that led to them. */
function checkTogether(items: readonly Json[], stored: Stored, refuse: Refuse): void {
  const ids = new Set(items.map(({ id }) => id));
  for (const { id, type } of items) {
    const reasoning = stored.get(stringOf(id))?.reasoning;
    if (reasoning !== undefined && !ids.has(reasoning))
      refuse(
        '4.thought-required',
        `Item '${stringOf(id)}' of type '${stringOf(type)}' was provided without its required 'reasoning' item: '${reasoning}'.`,
        { param: 'input' },
      );
  }
}
