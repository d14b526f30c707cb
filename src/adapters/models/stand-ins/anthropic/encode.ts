/** Writes an answer as Anthropic does: a message, or its stream of events. */
import type { ModelAnswer } from '../../../../ports/model.js';
import type { Json } from '../wire/json.js';
import { idOf } from '../wire/seal.js';
import type { Encoder } from '../wire/stand-in.js';
import { tokensOf } from '../wire/tokens.js';
import type { CacheUsage } from './cache.js';

export function anthropicEncoder(options: {
  model: string;
  /** Makes ids that follow from the conversation. */
  seed: string;
  thoughts: readonly Json[];
  usage: CacheUsage;
}): Encoder {
  const { model, seed, thoughts, usage } = options;
  const thinkingTokens = tokensOf(thoughts.map(({ thinking }) => thinking ?? '').join(''));
  const message = (content: unknown[], stopReason: string | null, outputTokens: number) => ({
    id: `msg_${idOf(seed, 24)}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { ...inputUsage(usage), output_tokens: outputTokens },
  });
  const blocks = stream();
  return {
    open: () =>
      event({ type: 'message_start', message: message([], null, 1) }) +
      event({ type: 'ping' }) +
      thoughts.map((thought) => blocks.whole(thought)).join(''),
    text: (delta) => blocks.delta(delta),
    close(answer) {
      return (
        blocks.end() +
        callBlocks(answer, seed)
          .map((call) => blocks.call(call))
          .join('') +
        event({
          type: 'message_delta',
          delta: { stop_reason: stopOf(answer), stop_sequence: null, ...refusalOf(answer) },
          usage: { output_tokens: answer.outputTokens + thinkingTokens },
        }) +
        event({ type: 'message_stop' })
      );
    },
    whole: (answer) => ({
      ...message(
        [
          ...thoughts,
          ...(answer.text === '' ? [] : [{ type: 'text', text: answer.text }]),
          ...callBlocks(answer, seed),
        ],
        stopOf(answer),
        answer.outputTokens + thinkingTokens,
      ),
      ...refusalOf(answer),
    }),
  };
}

interface CallBlock {
  type: 'tool_use';
  id: string;
  name: string;
  input: Record<string, unknown>;
}

function callBlocks(answer: ModelAnswer, seed: string): CallBlock[] {
  return answer.toolCalls.map((call, at) => ({
    type: 'tool_use',
    id: `toolu_${idOf(`${seed} ${at}`, 24)}`,
    name: call.name,
    input: call.arguments,
  }));
}

/** Counts the blocks of one stream. */
function stream() {
  let index = 0;
  let isTextOpen = false;
  const start = (block: unknown) => event({ type: 'content_block_start', index, content_block: block });
  const delta = (part: object) => event({ type: 'content_block_delta', index, delta: part });
  const stop = () => event({ type: 'content_block_stop', index: index++ });
  return {
    whole(thought: Json): string {
      if (thought['type'] !== 'thinking') return start(thought) + stop();
      const { thinking, signature } = thought;
      return (
        start({ type: 'thinking', thinking: '', signature: '' }) +
        (thinking === '' ? '' : delta({ type: 'thinking_delta', thinking })) +
        delta({ type: 'signature_delta', signature }) +
        stop()
      );
    },
    delta(text: string): string {
      const opening = isTextOpen ? '' : start({ type: 'text', text: '' });
      isTextOpen = true;
      return opening + delta({ type: 'text_delta', text });
    },
    end(): string {
      if (!isTextOpen) return '';
      isTextOpen = false;
      return stop();
    },
    /** The first piece of the input is empty, and an empty input has no other piece. */
    call({ input, ...call }: CallBlock): string {
      const json = JSON.stringify(input);
      const half = Math.ceil(json.length / 2);
      const pieces = json === '{}' ? [''] : ['', json.slice(0, half), json.slice(half)];
      return (
        start({ ...call, input: {} }) +
        pieces.map((piece) => delta({ type: 'input_json_delta', partial_json: piece })).join('') +
        stop()
      );
    },
  };
}

function inputUsage({ fresh, read, written5m, written1h }: CacheUsage) {
  return {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written5m + written1h,
    cache_creation: { ephemeral_5m_input_tokens: written5m, ephemeral_1h_input_tokens: written1h },
  };
}

function stopOf({ finish }: ModelAnswer): string {
  const reasons = {
    tool_calls: 'tool_use',
    length: 'max_tokens',
    filtered: 'refusal',
    stop: 'end_turn',
    other: 'end_turn',
  };
  return reasons[finish];
}

function refusalOf({ finish }: ModelAnswer): object {
  return finish === 'filtered' ? { stop_details: { type: 'refusal', category: 'cyber', explanation: null } } : {};
}

function event(data: Json & { type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
