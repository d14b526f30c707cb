/** Checks the order and the content of the messages. */
import { isMapping } from '../../../../domain/mapping.js';
import { objectOf, objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import type { Family } from './families.js';
import { blocksOf, type Block, type Turn } from './turns.js';

export function checkMessages(body: Json, turns: readonly Turn[], family: Family, { refuse }: Judge): void {
  const messages = objectsIn(body['messages']);
  const first = messages[0];
  if (first === undefined || (first['role'] !== 'user' && first['role'] !== 'system'))
    refuse('3-request.first-user', 'messages: first message must use the "user" role');
  for (const [at, { role, content }] of messages.entries()) {
    if (role === 'system') {
      if (!family.systemInside)
        refuse(
          '3-request.system-role',
          `messages: Unexpected role "system". The Messages API accepts a top-level \`system\` parameter, not "system" as an input message role.`,
        );
    } else if (role !== 'user' && role !== 'assistant')
      refuse('3-request.role', `messages.${at}.role: Input should be 'user' or 'assistant'`);
    checkContent(at, content, at === messages.length - 1 && role === 'assistant', refuse);
  }
  if (messages.at(-1)?.['role'] === 'assistant' && !family.prefill)
    refuse(
      '3-request.last-user',
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    );
  checkResults(
    turns.filter(({ role }) => role !== 'system'),
    refuse,
  );
}

function checkContent(at: number, content: unknown, isPrefill: boolean, refuse: Judge['refuse']): void {
  const blocks = blocksOf(content);
  if (blocks.length === 0 && !isPrefill)
    refuse(
      '3-request.message-not-empty',
      `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
    );
  for (const [index, block] of blocks.entries()) {
    checkImage(block, `messages.${at}.content.${index}`, refuse);
    if (block['type'] !== 'text') continue;
    const text = stringOf(block['text']);
    if (text === '') refuse('3-request.text-not-blank', 'messages: text content blocks must be non-empty');
    else if (text.trim() === '')
      refuse('3-request.text-not-blank', 'messages: text content blocks must contain non-whitespace text');
  }
}

const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** An image of a message or inside a tool result. */
function checkImage(block: Json, place: string, refuse: Judge['refuse']): void {
  for (const [index, inner] of objectsIn(block['content']).entries())
    checkImage(inner, `${place}.tool_result.content.${index}`, refuse);
  const { type, media_type: media } = objectOf(block['source']);
  if (block['type'] === 'image' && type === 'base64' && !IMAGES.includes(stringOf(media)))
    refuse(
      '3-input.image-type',
      `${place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    );
}

function checkResults(turns: readonly Turn[], refuse: Judge['refuse']): void {
  const seen = new Set<string>();
  for (const [at, turn] of turns.entries()) {
    const calls = turn.blocks.filter(({ block }) => block['type'] === 'tool_use');
    for (const call of calls) checkCall(call, seen, refuse);
    const before = turns[at - 1]?.blocks.filter(({ block }) => block['type'] === 'tool_use') ?? [];
    checkOrphans(turn, new Set(before.map(({ block }) => stringOf(block['id']))), refuse);
    if (calls.length === 0) continue;
    const next = turns[at + 1]?.blocks ?? [];
    const other = next.findIndex(({ block }) => block['type'] !== 'tool_result');
    const results = other === -1 ? next : next.slice(0, other);
    const answered = new Set(results.map(({ block }) => block['tool_use_id']));
    const open = calls.filter(({ block }) => !answered.has(block['id']));
    if (open.length > 0)
      refuse(
        '3-request.result-follows-call',
        `messages.${calls[0]!.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.map(({ block }) => stringOf(block['id'])).join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
  }
}

function checkCall({ block, at, index }: Block, seen: Set<string>, refuse: Judge['refuse']): void {
  const id = stringOf(block['id']);
  if (!/^[a-zA-Z0-9_-]+$/.test(id))
    refuse(
      '3-request.call-id',
      `messages.${at}.content.${index}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
    );
  if (seen.has(id)) refuse('3-request.call-id', `messages.${at}.content.${index}: \`tool_use\` ids must be unique`);
  seen.add(id);
  if (!isMapping(block['input']))
    refuse(
      '3-request.call-input',
      `messages.${at}.content.${index}.tool_use.input: Input should be a valid dictionary`,
    );
}

function checkOrphans(turn: Turn, calls: ReadonlySet<string>, refuse: Judge['refuse']): void {
  const answered = new Set<string>();
  for (const { block, at, index } of turn.blocks) {
    if (block['type'] !== 'tool_result') continue;
    const id = stringOf(block['tool_use_id']);
    if (!calls.has(id))
      refuse(
        '3-request.call-before-result',
        `messages.${at}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    else if (answered.has(id))
      refuse(
        '3-request.one-result',
        `messages.${at}.content.${index}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    answered.add(id);
  }
}
