/** Writes an answer as chat completions; differences between providers are options. */
import type { ToolCall } from '../../../../domain/session/session.js';
import type { ModelAnswer } from '../../../../ports/model.js';
import type { Encoder } from '../wire/stand-in.js';

interface ChatStyle {
  model: string;
  id: string;
  callId(at: number, call: ToolCall): string;
  /** Thoughts, sent before everything else: in a separate field or as parts of the content. */
  thoughts?: { reasoning_content: string } | { content: object[] };
  usage(answer: ModelAnswer): object;
  /** Where a stream reports usage: in the finish chunk, in a separate chunk, or not at all. */
  usageIn: 'finish' | 'own-chunk' | 'nowhere';
  /** Calls come in one chunk each instead of in pieces. */
  wholeCalls?: boolean;
  /** Comments between chunks, as keep-alive. */
  comment?: string;
}

export function chatEncoder(style: ChatStyle): Encoder {
  const envelope = (object: string) => ({ id: style.id, object, created: 1_790_000_000, model: style.model });
  const chunk = (choices: unknown[], more: object = {}) =>
    `data: ${JSON.stringify({ ...envelope('chat.completion.chunk'), choices, ...more })}\n\n`;
  const delta = (part: object, finish: string | null = null, more: object = {}) =>
    chunk([{ index: 0, delta: part, finish_reason: finish }], more);
  const calls = (answer: ModelAnswer) =>
    answer.toolCalls.map((call, at) => ({
      id: style.callId(at, call),
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    }));
  return {
    open: () =>
      (style.comment ?? '') +
      delta({ role: 'assistant', content: '' }) +
      (style.thoughts ? delta({ content: null, ...style.thoughts }) : ''),
    text: (content) => delta({ content }),
    close(answer) {
      const pieces = calls(answer).flatMap(({ id, type, function: { name, arguments: args } }, index) => {
        if (style.wholeCalls) return [{ index, id, type, function: { name, arguments: args } }];
        const first = { index, id, type, function: { name, arguments: '' } };
        return [first, ...fragments(args).map((part) => ({ index, function: { arguments: part } }))];
      });
      const usage = style.usageIn === 'finish' ? { usage: style.usage(answer) } : {};
      return (
        pieces.map((piece) => delta({ tool_calls: [piece] })).join('') +
        delta({}, finishOf(answer), usage) +
        (style.usageIn === 'own-chunk' ? chunk([], { usage: style.usage(answer) }) : '') +
        'data: [DONE]\n\n'
      );
    },
    whole(answer) {
      const text = answer.text === '' ? null : answer.text;
      const { content: parts, ...thoughts } = { content: [] as object[], ...style.thoughts };
      const message = {
        role: 'assistant',
        content: parts.length === 0 ? text : [...parts, ...(text === null ? [] : [{ type: 'text', text }])],
        ...thoughts,
        ...(answer.toolCalls.length > 0 ? { tool_calls: calls(answer) } : {}),
      };
      return {
        ...envelope('chat.completion'),
        choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
        usage: style.usage(answer),
      };
    },
  };
}

export function finishOf({ finish }: ModelAnswer): string {
  return finish === 'filtered' ? 'content_filter' : finish === 'other' ? 'stop' : finish;
}

function fragments(text: string): string[] {
  const size = Math.max(4, Math.ceil(text.length / 3));
  return text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
}
