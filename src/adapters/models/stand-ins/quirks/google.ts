/** Occasional faults in Google's streams. */
import type { Quirk, QuirkReply } from './quirk.js';

export const GOOGLE_QUIRKS: Readonly<Record<string, Quirk>> = {
  'blocked-prompt': {
    says: 'A blocked prompt has no candidates but a reason.',
    reply: () => stream({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 10 } }),
  },
  'malformed-call': {
    says: 'The model made a call that cannot be read; asking once more helps.',
    reply: () => stream({ candidates: [{ content: {}, finishReason: 'MALFORMED_FUNCTION_CALL', index: 0 }] }),
  },
  'unexpected-call': {
    says: 'The model made a call although no tool was offered.',
    reply: () => stream({ candidates: [{ content: {}, finishReason: 'UNEXPECTED_TOOL_CALL', index: 0 }] }),
  },
  'no-end': {
    says: 'The stream ends without a finish reason.',
    reply: ({ text }) =>
      stream({ candidates: [{ content: { role: 'model', parts: [{ text: text || 'Half' }] }, index: 0 }] }),
  },
  recitation: {
    says: 'The answer stops because it repeats a known text.',
    reply: ({ text }) =>
      stream({
        candidates: [
          { content: { role: 'model', parts: [{ text: text || 'Half' }] }, index: 0, finishReason: 'RECITATION' },
        ],
      }),
  },
  'error-in-stream': {
    says: 'An error comes as an event of a stream that began with 200.',
    reply: () =>
      stream({
        error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' },
      }),
  },
};

function stream(...events: object[]): QuirkReply {
  return { body: events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('') };
}
