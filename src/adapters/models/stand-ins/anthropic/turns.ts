/** The conversation as turns: neighbours of one role are joined, text becomes blocks. */
import { isMapping } from '../../../../domain/mapping.js';
import { objectsIn, stringOf, type Json } from '../wire/json.js';

export interface Block {
  block: Json;
  /** Place in the request: `messages.AT.content.INDEX`. */
  at: number;
  index: number;
}

export interface Turn {
  role: string;
  blocks: Block[];
}

export function turnsOf(body: Json): Turn[] {
  const turns: Turn[] = [];
  for (const [at, message] of objectsIn(body['messages']).entries()) {
    const role = stringOf(message['role']);
    const blocks = blocksOf(message['content']).map((block, index) => ({ block, at, index }));
    const last = turns.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else turns.push({ role, blocks });
  }
  return turns;
}

export function blocksOf(content: unknown): Json[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsIn(content);
}

export function isThought({ block }: Block): boolean {
  return block['type'] === 'thinking' || block['type'] === 'redacted_thinking';
}

/** The text of a block, and of what is inside a tool result. */
export function textOf(block: Json): string {
  if (typeof block['text'] === 'string') return block['text'];
  const { content } = block;
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.filter(isMapping).map(textOf).join('\n') : '';
}
