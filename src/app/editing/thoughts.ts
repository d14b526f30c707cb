/** What a model thought before an answer, as far as its provider let it be kept. */
import { readParts, type AnswerPart } from '../../adapters/models/ai-sdk/prompt/answer-parts.js';
import type { Message } from '../../domain/session/session.js';
import type { Blobs } from '../../ports/store/blobs.js';

/** Undefined if nothing readable was kept: many providers sign or encrypt thoughts. */
export async function thoughtsOf({ provider }: Message, blobs: Pick<Blobs, 'get'>): Promise<string | undefined> {
  if (provider === undefined) return undefined;
  const { parts, blob } = provider;
  const json = parts ?? (blob === undefined ? undefined : (await blobs.get(blob))?.toString('utf8'));
  const text = (json === undefined ? [] : (readParts(json) ?? []))
    .flatMap(wordsOf)
    .filter((each) => each.trim() !== '')
    .join('\n\n');
  return text === '' ? undefined : text;
}

function wordsOf(part: AnswerPart): string[] {
  if (part.type === 'reasoning') return [part.text];
  if (part.type !== 'fields') return [];
  const { reasoning_content: content, reasoning } = part.fields;
  return [content ?? reasoning].flatMap((each) => (typeof each === 'string' ? [each] : []));
}
