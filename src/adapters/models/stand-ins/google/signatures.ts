/**
 * Thought signatures. The first call of each step carries one; it knows the model and the call, so
 * that an edited call or another model is noticed.
 */
import { isMapping } from '../../../../domain/mapping.js';
import { objectsIn, stringOf, type Json } from '../wire/json.js';
import type { Judge } from '../wire/rule.js';
import { digest, seal, unseal } from '../wire/seal.js';
import type { Family } from './families.js';
import { partsOf } from './request.js';

/** Values that a client may send for a call that has no signature. */
const SKIP = ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'];

export function callSignature(model: string, name: string, args: unknown): string {
  return seal({ model, call: digest([name, args]) });
}

export function textSignature(model: string): string {
  return seal({ model });
}

export function checkSignatures(model: string, body: Json, family: Family, { refuse }: Judge): void {
  if (!family.signs) return;
  const contents = objectsIn(body['contents']);
  const isRealUser = (content: Json) =>
    content['role'] === 'user' && !partsOf(content).some((part) => part['functionResponse'] !== undefined);
  const turnStart = contents.findLastIndex(isRealUser);
  let position = 0;
  for (const [at, content] of contents.entries()) {
    let isFirst = true;
    for (const part of partsOf(content)) {
      position++;
      const { functionCall, thoughtSignature } = part;
      if (typeof thoughtSignature === 'string') checkSignature(model, part, thoughtSignature, refuse);
      if (!isMapping(functionCall)) continue;
      if (isFirst && at > turnStart && typeof thoughtSignature !== 'string')
        refuse(
          '6.signature-given',
          `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${stringOf(functionCall['name'])}\` , position ${position}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
        );
      isFirst = false;
    }
  }
}

function checkSignature(model: string, part: Json, signature: string, refuse: Judge['refuse']): void {
  if (SKIP.includes(signature)) return;
  const claims = unseal(signature);
  if (claims === undefined) return refuse('6.signature-genuine', 'Corrupted thought signature.');
  const { functionCall } = part;
  const isSameCall =
    !isMapping(functionCall) ||
    claims['call'] === undefined ||
    claims['call'] === digest([functionCall['name'], functionCall['args'] ?? {}]);
  if (claims['model'] !== model || !isSameCall) refuse('6.signature-genuine', 'Thought signature is not valid.');
}
