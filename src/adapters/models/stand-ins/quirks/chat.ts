/** Deviations of servers that call themselves compatible with chat completions. */
import { defined } from '../../../../domain/defined.js';
import type { ModelAnswer } from '../../../../ports/model.js';
import { finishOf } from '../chat/encode.js';
import type { Quirk, QuirkReply } from './quirk.js';

export const CHAT_QUIRKS: Readonly<Record<string, Quirk>> = {
  'json-body': {
    says: 'Gateways and mocks answer a streamed request with one JSON body.',
    reply: (answer) =>
      json({ ...ENVELOPE, choices: [choice({ message: message(answer) }, finishOf(answer))], usage: usage(answer) }),
  },
  'error-in-200': {
    says: 'OpenRouter sends an error as JSON with status 200.',
    reply: () => json({ error: { message: 'Provider returned error', code: 502 } }),
  },
  'error-in-stream': {
    says: 'OpenRouter reports an error inside a stream.',
    reply: ({ text }) =>
      stream(delta({ content: text.slice(0, 4) }), {
        ...ENVELOPE,
        error: { code: 'server_error', message: 'Provider disconnected' },
        choices: [choice({ delta: { content: '' } }, 'error')],
      }),
  },
  'bare-error-in-stream': {
    says: 'Older vLLM reports an error inside a stream without the key error.',
    reply: () =>
      stream({ object: 'error', message: 'The model ran out of memory', type: 'InternalServerError', code: 500 }),
  },
  'done-without-finish': {
    says: 'The stream ends with [DONE] but without a finish reason.',
    reply: (answer) => stream(...content(answer)),
  },
  'empty-finish': {
    says: 'The finish reason is an empty text.',
    reply: (answer) => stream(...content(answer), finish('')),
  },
  'no-end': {
    says: 'The stream ends without a finish reason and without [DONE].',
    reply: (answer) => ({ body: content(answer).map(event).join('') }),
  },
  ...Object.fromEntries(
    [
      ['insufficient_system_resource', 'DeepSeek stops for lack of resources'],
      ['abort', 'vLLM aborts a request'],
      ['error', 'OpenRouter reports an error as a finish reason'],
      ['network_error', 'Z.ai lost its connection'],
      ['sensitive', 'Z.ai refuses'],
      ['model_length', 'Mistral reaches the context window'],
    ].map(([reason, says]) => [
      `finish-${reason!.replaceAll('_', '-')}`,
      { says: `${says}: ${reason}.`, reply: (answer: ModelAnswer) => stream(...content(answer), finish(reason!)) },
    ]),
  ),
  'think-block': {
    says: 'Ollama and vLLM without a parser put thoughts into the text, between think tags.',
    reply: (answer) =>
      stream(
        delta({ content: '<thi' }),
        delta({ content: 'nk>\nWeighing what to do.\n</thi' }),
        delta({ content: 'nk>\n\n' }),
        ...content(answer),
        finish(finishOf(answer)),
      ),
  },
  'trailing-comma': broken('Small models leave a comma before the last brace.', (args) => args.replace(/\}$/, ',}')),
  'double-encoded': broken('Arguments are JSON inside a JSON text.', (args) => JSON.stringify(args)),
  'raw-newline': broken('A text in the arguments has a line break that is not escaped.', (args) =>
    args.replaceAll('\\n', '\n'),
  ),
  'null-arguments': broken('A call without arguments has the arguments null.', () => 'null'),
  'fenced-arguments': broken('Arguments are in a code fence.', (args) => `\`\`\`json\n${args}\n\`\`\``),
  'same-index': {
    says: 'Older Ollama sends every call with index 0 and without an id.',
    reply: withCalls((answer) =>
      stream(
        ...answer.toolCalls.map(({ name, arguments: args }) =>
          delta({ tool_calls: [{ index: 0, type: 'function', function: { name, arguments: JSON.stringify(args) } }] }),
        ),
        finish('tool_calls'),
      ),
    ),
  },
  'function-call': {
    says: 'Old servers send one function_call instead of tool_calls.',
    reply: withCalls(({ toolCalls: [call] }) =>
      stream(
        delta({ content: null, function_call: { name: call?.name, arguments: '' } }),
        delta({ function_call: { arguments: JSON.stringify(call?.arguments ?? {}) } }),
        finish('function_call'),
      ),
    ),
  },
  'second-choice': {
    says: 'A second answer comes in chunks of its own.',
    reply: (answer) =>
      stream(
        ...content(answer),
        { ...ENVELOPE, choices: [{ index: 1, delta: { content: 'ANOTHER ANSWER' }, finish_reason: null }] },
        { ...ENVELOPE, choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] },
        finish(finishOf(answer)),
      ),
  },
  'usage-in-choice': {
    says: 'Moonshot reports usage inside the choice, with cached_tokens.',
    reply: (answer) =>
      stream(...content(answer), {
        ...ENVELOPE,
        choices: [
          {
            ...choice({ delta: {} }, finishOf(answer)),
            usage: { prompt_tokens: 100, completion_tokens: 20, cached_tokens: 64 },
          },
        ],
      }),
  },
  'azure-first-chunk': {
    says: 'The first chunk of Azure has no choices but filter results; comments keep the connection alive.',
    reply: (answer) => ({
      body: `: OPENROUTER PROCESSING\n\n${event({ ...ENVELOPE, choices: [], prompt_filter_results: [{ prompt_index: 0 }] })}${stream(...content(answer), finish(finishOf(answer))).body}`,
    }),
  },
};

const ENVELOPE = { id: 'chatcmpl-quirk', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'quirk' };

function broken(says: string, spoil: (args: string) => string): Quirk {
  return {
    says,
    reply: withCalls((answer) =>
      stream(
        ...answer.toolCalls.map(({ name, arguments: args }, index) =>
          delta({
            tool_calls: [
              {
                index,
                id: `call_${index}`,
                type: 'function',
                function: { name, arguments: spoil(JSON.stringify(args)) },
              },
            ],
          }),
        ),
        finish('tool_calls'),
      ),
    ),
  };
}

/** Answers without calls come as usual. */
function withCalls(reply: (answer: ModelAnswer) => QuirkReply): Quirk['reply'] {
  return (answer) =>
    answer.toolCalls.length > 0 ? reply(answer) : stream(...content(answer), finish(finishOf(answer)));
}

function content({ text, toolCalls }: ModelAnswer): object[] {
  const half = Math.ceil(text.length / 2);
  return [
    delta({ role: 'assistant', content: text.slice(0, half) }),
    ...(text.length > 1 ? [delta({ content: text.slice(half) })] : []),
    ...toolCalls.map((call, index) => delta({ tool_calls: [{ index, ...wireCall(call, index) }] })),
  ];
}

function message(answer: ModelAnswer) {
  const calls = answer.toolCalls.map(wireCall);
  return defined({ role: 'assistant', content: answer.text || null, tool_calls: calls.length > 0 ? calls : undefined });
}

function wireCall({ name, arguments: args }: ModelAnswer['toolCalls'][number], at: number) {
  return { id: `call_${at}`, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

function usage({ inputTokens, outputTokens }: ModelAnswer) {
  return { prompt_tokens: inputTokens, completion_tokens: outputTokens, total_tokens: inputTokens + outputTokens };
}

function choice(part: object, finishReason: string | null) {
  return { index: 0, ...part, finish_reason: finishReason };
}

function delta(part: object): object {
  return { ...ENVELOPE, choices: [choice({ delta: part }, null)] };
}

function finish(reason: string): object {
  return { ...ENVELOPE, choices: [choice({ delta: {} }, reason)] };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function stream(...chunks: object[]): QuirkReply {
  return { body: `${chunks.map(event).join('')}data: [DONE]\n\n` };
}

function json(body: object): QuirkReply {
  return { body: `${JSON.stringify(body, null, 2)}\n`, contentType: 'application/json' };
}
