/** Occasional faults in Anthropic's streams. */
import type { Quirk } from './quirk.js';

export const ANTHROPIC_QUIRKS: Readonly<Record<string, Quirk>> = {
  'overloaded-in-stream': {
    says: 'An overloaded server says so inside a stream that began with 200.',
    reply: (answer, { encoder }) => ({
      body: `${encoder.open()}${encoder.text(answer.text || 'Half')}event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n`,
    }),
  },
  'no-end': {
    says: 'The stream ends without message_stop.',
    reply: (answer, { encoder }) => ({ body: encoder.open() + encoder.text(answer.text || 'Half') }),
  },
  refusal: {
    says: 'The model refuses after half an answer: the text is discarded and no call is made.',
    reply: (answer, { encoder }) => ({
      body:
        encoder.open() +
        encoder.text(answer.text || 'Half') +
        encoder.close({ ...answer, toolCalls: [], finish: 'filtered' }),
    }),
  },
  'pause-turn': {
    says: 'A long turn pauses: the client must send the answer back unchanged.',
    reply: (answer, { encoder }) => ({
      body:
        encoder.open() +
        encoder.text(answer.text || 'Half') +
        encoder.close({ ...answer, toolCalls: [], finish: 'stop' }).replace('"end_turn"', '"pause_turn"'),
    }),
  },
  'window-exceeded': {
    says: 'The answer stops because the context window is full.',
    reply: (answer, { encoder }) => ({
      body:
        encoder.open() +
        encoder.text(answer.text || 'Half') +
        encoder
          .close({ ...answer, toolCalls: [], finish: 'stop' })
          .replace('"end_turn"', '"model_context_window_exceeded"'),
    }),
  },
  pings: {
    says: 'Pings come anywhere, and unknown events too.',
    reply: (answer, { encoder }) => ({
      body: [encoder.open(), answer.text === '' ? '' : encoder.text(answer.text), encoder.close(answer)].join(
        'event: ping\ndata: {"type":"ping"}\n\n',
      ),
    }),
  },
};
