/**
 * Thinking blocks: made with a signature that knows the model, the text and everything before it,
 * and checked when they come back.
 */
import { objectOf, stringOf, without, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { digest, seal, unseal } from '../wire/seal.js';
import { familyOf, type Family } from './families.js';
import { blocksOf, isThought, type Block, type Turn } from './turns.js';

/** A thought as it was sent back. */
interface Returned extends Block {
  claims: Json | undefined;
  /** The text before it now. */
  prefix: string;
  isLatest: boolean;
}

interface Thoughts {
  /** The thoughts of the next answer. */
  next(options: { isShown: boolean; isRedacted: boolean }): Json[];
}

export function checkThoughts(body: Json, turns: readonly Turn[], family: Family, { refuse }: Judge): Thoughts {
  const model = stringOf(body['model']);
  const { returned, prefix } = walk(body, turns);
  checkPlaces(body, turns, refuse);
  for (const thought of returned) checkSignature(thought, refuse);
  checkLatest(returned, refuse);
  const readable = returned.filter(({ claims }) => claims !== undefined && canRead(family, stringOf(claims['model'])));
  const drops = objectOf(objectOf(body['thinking'])['block_binding'])['prefix_mismatch_behavior'] === 'drop_block';
  if (family.bound && !drops) checkBinding(readable, refuse);
  const ordinal = Math.max(-1, ...readable.map(({ claims }) => Number(claims!['ordinal']))) + 1;
  return {
    next({ isShown, isRedacted }) {
      const text = isShown ? `Weighing what to do in turn ${ordinal + 1}.` : '';
      const claims = { model, prefix, of: isRedacted ? 2 : 1 };
      const thought = { ...claims, ordinal, text: digest(text) };
      return [
        { type: 'thinking', thinking: text, signature: seal(thought) },
        ...(isRedacted ? [{ type: 'redacted_thinking', data: seal({ ...claims, ordinal: ordinal + 1 }) }] : []),
      ];
    },
  };
}

/** Every returned thought, with a hash of the preceding text without thoughts and cache marks. */
function walk(body: Json, turns: readonly Turn[]): { returned: Returned[]; prefix: string } {
  const tools = without(body['tools'] ?? [], ['cache_control']);
  let prefix = digest([blocksOf(body['system']).map(({ text }) => text), tools]);
  const returned: Returned[] = [];
  const latest = turns.findLastIndex(({ role }) => role === 'assistant');
  for (const [at, { role, blocks }] of turns.entries()) {
    for (const each of blocks) {
      if (!isThought(each)) prefix = digest([prefix, role, plain(each.block)]);
      else {
        const claims = unseal(stringOf(each.block['signature'] ?? each.block['data']));
        returned.push({ ...each, claims, prefix, isLatest: at === latest });
      }
    }
  }
  return { returned, prefix };
}

function plain(block: Json): unknown {
  const content = typeof block['content'] === 'string' ? blocksOf(block['content']) : block['content'];
  return without(content === undefined ? block : { ...block, content }, ['cache_control']);
}

function checkPlaces(body: Json, turns: readonly Turn[], refuse: Judge['refuse']): void {
  for (const { role, blocks } of turns) {
    const last = blocks.at(-1);
    if (role === 'assistant' && last && isThought(last))
      refuse(
        '3-thinking.not-last',
        `messages.${last.at}: The final block in an assistant message cannot be \`thinking\`.`,
      );
  }
  const [before, after] = turns.slice(-2);
  const isAfterTools = after?.blocks.some(({ block }) => block['type'] === 'tool_result') ?? false;
  const first = before?.blocks[0];
  if (objectOf(body['thinking'])['type'] === 'enabled' && isAfterTools && first && !isThought(first))
    refuse(
      '3-thinking.budget-starts',
      `messages.${first.at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${stringOf(first.block['type'])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    );
}

function checkSignature({ block, at, index, claims, isLatest }: Returned, refuse: Judge['refuse']): void {
  const place = `messages.${at}.content.${index}`;
  const isPlain = block['type'] === 'thinking';
  if (isPlain && typeof block['signature'] !== 'string')
    return refuse('3-thinking.signature-given', `${place}.thinking.signature: Field required`);
  const isChanged = isPlain && claims !== undefined && claims['text'] !== digest(stringOf(block['thinking']));
  if (claims === undefined || (isChanged && !isLatest))
    return refuse(
      '3-thinking.signature-genuine',
      isPlain
        ? `${place}: Invalid \`signature\` in \`thinking\` block`
        : `${place}: Invalid \`data\` in \`redacted_thinking\` block`,
    );
  if (isChanged) refuse('3-thinking.unchanged', modified(place));
}

/** An answer returns with all its thoughts or with none of them. */
function checkLatest(returned: readonly Returned[], refuse: Judge['refuse']): void {
  const latest = returned.filter(({ isLatest, claims }) => isLatest && claims !== undefined);
  for (const { claims, at, index } of latest) {
    const together = latest.filter(({ claims: other }) => other!['prefix'] === claims!['prefix']);
    if (together.length < Number(claims!['of']))
      return refuse('3-thinking.unchanged', modified(`messages.${at}.content.${index}`));
  }
}

function modified(place: string): string {
  return `${place}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
}

function checkBinding(readable: readonly Returned[], refuse: Judge['refuse']): void {
  for (const [at, { claims, prefix, at: message, index }] of readable.entries()) {
    const before = readable[at - 1]?.claims?.['ordinal'];
    const isMoved = claims!['prefix'] !== prefix;
    const isAfterGap = before !== undefined && Number(claims!['ordinal']) !== Number(before) + 1;
    if (!isMoved && !isAfterGap) continue;
    return refuse(
      isMoved ? '3-thinking.bound' : '3-thinking.no-gap',
      `messages.${message}.content.${index}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`,
    );
  }
}

/** A thought that this model may not read is dropped without an error. */
function canRead(family: Family, maker: string): boolean {
  return (familyOf(maker)?.rank ?? 0) <= family.rank;
}
