/**
 * The body of a chat-completions request, as text. The JSON of the messages is kept, so that a turn
 * of a long conversation writes only the messages that came since the turn before.
 */
import type { Message } from '../../../domain/session/session.js';
import type { JsonSchema, ModelRequest, ToolSpec } from '../../../ports/model.js';
import { closed, isStrict } from './answer-format.js';
import { cacheKey } from './cache-key.js';
import type { Dialect } from './dialect.js';
import { FIELDS } from './prompt/answer-parts.js';
import { memoize } from './prompt/memoize.js';
import { separated, type PromptWriter } from './prompt/prompt.js';
import type { Context } from './context.js';
import type { FilePart, Prompt } from './prompt/types.js';

export type ChatBody = (model: string, request: ModelRequest, dialect: Dialect, context: Context) => string;

export function chatBodyWriter({ toPrompt }: Pick<PromptWriter, 'toPrompt'>): ChatBody {
  const json: JsonOf = { answer: memoize(answerText), result: memoize(resultText), tool: memoize(toolText) };
  const written = new WeakMap<readonly Message[], Written>();
  return (model, request, dialect, context) => {
    const messages = messagesText(request, dialect, context);
    // A server may ignore `toolChoice`. If no tool may be called, it gets none.
    const offered = request.toolChoice === 'none' && dialect.toolChoice === 'unknown' ? [] : request.tools;
    const tools = offered.length > 0 ? `"tools":[${offered.map(json.tool).join(',')}],` : '';
    const settings = JSON.stringify({
      ...dialect.settings(request.settings, request.tools.length > 0),
      ...(offered.length > 0 ? choiceOf(request.toolChoice, dialect) : {}),
      ...formatOf(request.format, offered.length > 0, dialect),
      stream: true,
      ...(dialect.asksForUsage ? { stream_options: { include_usage: true } } : {}),
      ...(dialect.hasCacheKey ? { prompt_cache_key: cacheKey(request) } : {}),
    }).slice(1);
    return `{"model":${JSON.stringify(model)},"messages":[${messages}],${tools}${settings}`;
  };

  function messagesText({ system, messages }: ModelRequest, dialect: Dialect, context: Context): string {
    const textOf = (part: readonly Message[], head = ''): string => {
      const plain = toPrompt(head, part, context.thoughts.sent, context.media);
      const prompt = dialect.assistantAfterTool ? separated(plain) : plain;
      return prompt.map((item) => itemText(item, dialect)).join(',');
    };
    // Thoughts and files are chosen again for each request.
    const isPlain = context.thoughts.sent.size === 0 && context.media === undefined;
    if (!isPlain || messages.length < MIN_KEPT) return textOf(messages, system);
    let before = written.get(messages);
    if (before?.dialect !== dialect) before = { dialect, upTo: 0, text: '' };
    const upTo = messages.findLastIndex(isBorder);
    if (upTo > before.upTo) {
      const text = joined(before.text, textOf(messages.slice(before.upTo, upTo)));
      written.set(messages, (before = { dialect, upTo, text }));
    }
    return joined(textOf([], system), before.text, textOf(messages.slice(before.upTo)));
  }

  function itemText(item: Item, { demandsThoughts }: Dialect): string {
    const text = messageText(item, json);
    return demandsThoughts && lacksThoughts(item) ? `${text.slice(0, -1)},"reasoning_content":""}` : text;
  }
}

/** The JSON of the first messages of a conversation, which only grows. */
interface Written {
  dialect: Dialect;
  upTo: number;
  text: string;
}

/** Shorter conversations are quickly written and not worth the memory. */
const MIN_KEPT = 50;

/** Whether everything up to this message stays as it is: an answer is never merged with others. */
function isBorder({ role, content, toolCalls = [] }: Message): boolean {
  return role === 'assistant' && (content !== '' || toolCalls.length > 0);
}

function joined(...texts: string[]): string {
  return texts.filter((text) => text !== '').join(',');
}

function choiceOf(choice: ModelRequest['toolChoice'], { toolChoice: accepted }: Dialect): object {
  if (choice === undefined || accepted === 'unknown') return {};
  if (choice === 'none') return { tool_choice: choice };
  return accepted === 'any' ? { tool_choice: { type: 'function', function: { name: choice.tool } } } : {};
}

function formatOf(format: JsonSchema | undefined, hasTools: boolean, { structured }: Dialect): object {
  if (format === undefined || structured === 'never' || (hasTools && structured === 'without_tools')) return {};
  const schema = { name: 'answer', strict: isStrict(format), schema: closed(format) };
  return { response_format: { type: 'json_schema', json_schema: schema } };
}

/** Thoughts with calls must be sent back; lost thoughts may be empty, but not absent. */
function lacksThoughts(item: Item): boolean {
  const isCalling = item.role === 'assistant' && item.content.some(({ type }) => type === 'tool-call');
  return isCalling && item.providerOptions?.[FIELDS]?.['reasoning_content'] === undefined;
}

type Item = Prompt[number];
type AnswerItem = Extract<Item, { role: 'assistant' }>;
type ResultPart = Extract<Extract<Item, { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

interface JsonOf {
  answer(item: AnswerItem): string;
  result(part: ResultPart): string;
  tool(tool: ToolSpec): string;
}

function messageText(item: Item, json: JsonOf): string {
  if (item.role === 'system') return `{"role":"system","content":${JSON.stringify(item.content)}}`;
  if (item.role === 'assistant') return json.answer(item);
  if (item.role === 'tool')
    return item.content.map((part) => (part.type === 'tool-result' ? json.result(part) : '')).join(',');
  const text = item.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const images = item.content.flatMap((part) => (part.type === 'file' ? [imagePart(part)] : []));
  const content = images.length === 0 ? text : [{ type: 'text', text }, ...images];
  return `{"role":"user","content":${JSON.stringify(content)}}`;
}

function imagePart({ mediaType, data }: FilePart): object {
  const base64 = data.type === 'data' && typeof data.data === 'string' ? data.data : '';
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${base64}` } };
}

function answerText(item: AnswerItem): string {
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
    tool_calls: calls.length > 0 ? calls : undefined,
    ...item.providerOptions?.[FIELDS],
  });
}

function resultText({ toolCallId, output }: ResultPart): string {
  return JSON.stringify({ role: 'tool', tool_call_id: toolCallId, content: 'value' in output ? output.value : '' });
}

function toolText({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({ type: 'function', function: { name, description, parameters } });
}
