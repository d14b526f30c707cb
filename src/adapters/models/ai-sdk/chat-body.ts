/**
 * The body of a chat-completions request, as text. The JSON of each message is cached, so that a
 * long conversation is mostly joined from earlier turns.
 */
import type { ModelRequest, ToolSpec } from '../../../ports/model.js';
import { toPrompt, type Prompt } from './prompt.js';

export function chatBody(model: string, request: ModelRequest): string {
  const { temperature, maxTokens, topP, topK, reasoning } = request.settings;
  const settings = {
    temperature,
    max_tokens: maxTokens,
    top_p: topP,
    top_k: topK,
    reasoning_effort: reasoning === 'none' ? undefined : reasoning,
    stream: true,
    stream_options: { include_usage: true },
  };
  const messages = toPrompt(request.system, request.messages).map(messageText).join(',');
  const tools = request.tools.length > 0 ? `"tools":${toolsText(request.tools)},` : '';
  return `{"model":${JSON.stringify(model)},"messages":[${messages}],${tools}${JSON.stringify(settings).slice(1)}`;
}

type Item = Prompt[number];

function messageText(item: Item): string {
  if (item.role === 'system') return `{"role":"system","content":${JSON.stringify(item.content)}}`;
  if (item.role === 'assistant') return memoized(item, answerText);
  if (item.role === 'tool')
    return item.content.map((part) => (part.type === 'tool-result' ? memoized(part, resultText) : '')).join(',');
  return `{"role":"user","content":${JSON.stringify(item.content.map((part) => (part.type === 'text' ? part.text : '')).join(''))}}`;
}

function answerText(item: Extract<Item, { role: 'assistant' }>): string {
  const text = item.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = item.content.flatMap((part) =>
    part.type === 'tool-call'
      ? [
          {
            id: part.toolCallId,
            type: 'function',
            function: { name: part.toolName, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  );
  return JSON.stringify({
    role: 'assistant',
    content: text === '' ? null : text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  });
}

type ResultPart = Extract<Extract<Item, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

function resultText({ toolCallId, output }: ResultPart): string {
  return JSON.stringify({ role: 'tool', tool_call_id: toolCallId, content: 'value' in output ? output.value : '' });
}

const cache = new WeakMap<object, string>();
function memoized<T extends object>(thing: T, write: (thing: T) => string): string {
  let text = cache.get(thing);
  if (text === undefined) cache.set(thing, (text = write(thing)));
  return text;
}

function toolsText(tools: readonly ToolSpec[]): string {
  return `[${tools.map((tool) => memoized(tool, toolText)).join(',')}]`;
}

function toolText({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({ type: 'function', function: { name, description, parameters } });
}
