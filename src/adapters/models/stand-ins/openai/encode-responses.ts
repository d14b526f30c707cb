/** Writes an answer as the Responses API does: items, each added, filled and done. */
import { defined } from '../../../../domain/defined.js';
import type { ModelAnswer } from '../../../../ports/model.js';
import type { Json } from '../wire/json.js';
import { idOf } from '../wire/seal.js';
import type { Encoder } from '../wire/stand-in.js';

interface Options {
  model: string;
  seed: string;
  reasoning: { id: string; encrypted: string } | undefined;
  inputTokens: number;
  cachedTokens: number;
  reportsWrites: boolean;
  /** Called with the items of a complete answer. */
  keep(items: readonly Json[]): void;
}

export function responsesEncoder(options: Options): Encoder {
  const { seed, reasoning, keep } = options;
  const thought = reasoning && {
    id: reasoning.id,
    type: 'reasoning',
    summary: [],
    encrypted_content: reasoning.encrypted,
  };
  const messageId = `msg_${idOf(seed, 40)}`;
  const items = (answer: ModelAnswer): Json[] => [
    ...(thought ? [thought] : []),
    ...(answer.text === '' ? [] : [messageItem(messageId, 'completed', answer.text)]),
    ...callItems(answer, seed),
  ];
  let sequence = 0;
  let index = 0;
  let text = '';
  const event = (type: string, data: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...data })}\n\n`;
  const item = (step: 'added' | 'done', value: Json) =>
    event(`response.output_item.${step}`, { output_index: step === 'done' ? index++ : index, item: value });
  const place = { item_id: messageId, content_index: 0 };
  return {
    open: () =>
      event('response.created', { response: envelope(options, 'in_progress', []) }) +
      event('response.in_progress', { response: envelope(options, 'in_progress', []) }) +
      // The encrypted content is complete only when the item is done.
      (thought
        ? item('added', { ...thought, encrypted_content: reasoning.encrypted.slice(0, 16) }) + item('done', thought)
        : ''),
    text(delta) {
      const start =
        text === ''
          ? item('added', messageItem(messageId, 'in_progress', '')) +
            event('response.content_part.added', { ...place, output_index: index, part: textPart('') })
          : '';
      text += delta;
      return start + event('response.output_text.delta', { ...place, output_index: index, delta });
    },
    close(answer) {
      const said =
        text === ''
          ? ''
          : event('response.output_text.done', { ...place, output_index: index, text }) +
            event('response.content_part.done', { ...place, output_index: index, part: textPart(text) }) +
            item('done', messageItem(messageId, 'completed', text));
      const calls = callItems(answer, seed).map((call) => {
        const data = { item_id: call.id, output_index: index };
        return (
          item('added', { ...call, status: 'in_progress', arguments: '' }) +
          event('response.function_call_arguments.delta', { ...data, delta: call.arguments }) +
          event('response.function_call_arguments.done', { ...data, arguments: call.arguments }) +
          item('done', call)
        );
      });
      keep(items(answer));
      const status = statusOf(answer);
      return (
        said +
        calls.join('') +
        event(`response.${status}`, { response: envelope(options, status, items(answer), answer) })
      );
    },
    whole(answer) {
      keep(items(answer));
      return envelope(options, statusOf(answer), items(answer), answer);
    },
  };
}

function envelope(options: Options, status: string, output: readonly Json[], answer?: ModelAnswer) {
  const reason = answer?.finish === 'filtered' ? 'content_filter' : 'max_output_tokens';
  return {
    id: `resp_${idOf(options.seed, 40)}`,
    object: 'response',
    created_at: 1_790_000_000,
    status,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    model: options.model,
    output,
    usage: answer ? usageOf(options, answer) : null,
  };
}

function usageOf({ inputTokens, cachedTokens, reportsWrites }: Options, { outputTokens }: ModelAnswer) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: defined({
      cached_tokens: cachedTokens,
      cache_write_tokens: reportsWrites ? inputTokens - cachedTokens : undefined,
    }),
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + outputTokens,
  };
}

function statusOf({ finish }: ModelAnswer): string {
  return finish === 'length' || finish === 'filtered' ? 'incomplete' : 'completed';
}

function callItems(answer: ModelAnswer, seed: string) {
  return answer.toolCalls.map(({ name, arguments: args }, at) => ({
    id: `fc_${idOf(`${seed} ${at}`, 40)}`,
    type: 'function_call',
    status: 'completed',
    arguments: JSON.stringify(args),
    call_id: `call_${idOf(`${seed} ${at}`, 24)}`,
    name,
  }));
}

function messageItem(id: string, status: string, text: string): Json {
  return { id, type: 'message', status, role: 'assistant', content: text === '' ? [] : [textPart(text)] };
}

function textPart(text: string): Json {
  return { type: 'output_text', annotations: [], logprobs: [], text };
}
