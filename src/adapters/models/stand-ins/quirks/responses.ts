/** Occasional faults in streams of OpenAI's Responses API. */
import type { Encoder } from '../wire/stand-in.js';
import type { Quirk } from './quirk.js';

export const RESPONSES_QUIRKS: Readonly<Record<string, Quirk>> = {
  'no-end': {
    says: 'The stream ends without its final event.',
    reply: (answer, { encoder }) => ({ body: begun(encoder, answer.text) }),
  },
  'error-event': {
    says: 'An error event ends the stream.',
    reply: (answer, { encoder }) => ({
      body: `${begun(encoder, answer.text)}event: error\ndata: {"type":"error","sequence_number":99,"code":"server_error","message":"The server had an error while processing your request.","param":null}\n\n`,
    }),
  },
  failed: {
    says: 'The response fails after it began.',
    reply: (answer, { encoder }) => ({
      body: `${begun(encoder, answer.text)}event: response.failed\ndata: ${JSON.stringify({
        type: 'response.failed',
        sequence_number: 99,
        response: {
          id: 'resp_quirk',
          object: 'response',
          created_at: 1_790_000_000,
          status: 'failed',
          model: 'quirk',
          output: [],
          error: { code: 'rate_limit_exceeded', message: 'Rate limit reached.' },
          incomplete_details: null,
          usage: null,
        },
      })}\n\n`,
    }),
  },
  incomplete: {
    says: 'The output limit was reached before the answer was complete.',
    reply: (answer, { encoder }) => ({
      body: begun(encoder, answer.text) + encoder.close({ ...answer, toolCalls: [], finish: 'length' }),
    }),
  },
  filtered: {
    says: 'The content filter stopped the answer.',
    reply: (answer, { encoder }) => ({
      body: begun(encoder, answer.text) + encoder.close({ ...answer, toolCalls: [], finish: 'filtered' }),
    }),
  },
};

function begun(encoder: Encoder, text: string): string {
  return encoder.open() + encoder.text(text || 'Half');
}
