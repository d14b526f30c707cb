/** Writes an answer as generateContent does: every event is a whole response. */
import { defined } from '../../../../domain/defined.js';
import type { ModelAnswer } from '../../../../ports/model.js';
import { idOf } from '../wire/seal.js';
import type { Encoder } from '../wire/stand-in.js';
import { callSignature, textSignature } from './signatures.js';

export function googleEncoder(options: {
  model: string;
  seed: string;
  signs: boolean;
  callIds: boolean;
  showsThoughts: boolean;
  promptTokens: number;
  cachedTokens: number;
}): Encoder {
  const { model, seed, signs, callIds } = options;
  const response = (parts: object[], finish?: string, outputTokens = 0) => ({
    candidates: [defined({ content: { parts, role: 'model' }, index: 0, finishReason: finish || undefined })],
    usageMetadata: defined({
      promptTokenCount: options.promptTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: options.promptTokens + outputTokens + THOUGHT_TOKENS,
      thoughtsTokenCount: THOUGHT_TOKENS,
      cachedContentTokenCount: options.cachedTokens > 0 ? options.cachedTokens : undefined,
    }),
    modelVersion: model,
    responseId: idOf(seed, 22),
  });
  const event = (...args: Parameters<typeof response>) => `data: ${JSON.stringify(response(...args))}\r\n\r\n`;
  const thoughts = options.showsThoughts ? [{ text: 'Weighing what to do.', thought: true }] : [];
  const calls = (answer: ModelAnswer) =>
    answer.toolCalls.map(({ name, arguments: args }, at) =>
      defined({
        functionCall: defined({ id: callIds ? idOf(`${seed} ${at}`, 12) : undefined, name, args }),
        // Of parallel calls only the first is signed.
        thoughtSignature: signs && at === 0 ? callSignature(model, name, args) : undefined,
      }),
    );
  return {
    open: () => (thoughts.length > 0 ? event(thoughts) : ''),
    text: (text) => event([{ text }]),
    close(answer) {
      const parts = calls(answer);
      const events = parts.map((part) => event([part])).join('');
      // The signature of a text comes in a separate last part, without text.
      const last =
        signs && parts.length === 0 ? [{ text: '', thoughtSignature: textSignature(model) }] : [{ text: '' }];
      return events + event(last, finishOf(answer), answer.outputTokens);
    },
    whole(answer) {
      const signature = signs && answer.toolCalls.length === 0 ? { thoughtSignature: textSignature(model) } : {};
      const text = answer.text === '' ? [] : [{ text: answer.text, ...signature }];
      return response([...thoughts, ...text, ...calls(answer)], finishOf(answer), answer.outputTokens);
    },
  };
}

const THOUGHT_TOKENS = 5;

function finishOf({ finish }: ModelAnswer): string {
  return finish === 'length' ? 'MAX_TOKENS' : finish === 'filtered' ? 'SAFETY' : 'STOP';
}
