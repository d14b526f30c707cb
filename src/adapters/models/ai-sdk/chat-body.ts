/**
 * The body of a chat-completions request, as text. The JSON of each message is cached, so that a
 * long conversation is mostly joined from earlier turns.
 */
import type { ModelRequest, ToolSpec } from '../../../ports/model.js';
import type { Dialect } from './dialect.js';
import { memoize } from './memoize.js';
import type { Prompt, PromptWriter } from './prompt.js';

export type ChatBody = (model: string, request: ModelRequest, dialect: Dialect) => string;

export function chatBodyWriter({ toPrompt }: Pick<PromptWriter, 'toPrompt'>): ChatBody {
  const json: JsonOf = { answer: memoize(answerText), result: memoize(resultText), tool: memoize(toolText) };
  return (model, request, dialect) => {
    const prompt = toPrompt(request.system, request.messages);
    const messages = prompt.flatMap((item, at) => {
      const text = messageText(item, json);
      if (dialect.demandsThoughts && isCalling(item)) return `${text.slice(0, -1)},"reasoning_content":""}`;
      const isAfterTool = item.role === 'user' && prompt[at - 1]?.role === 'tool';
      return isAfterTool && dialect.assistantAfterTool ? [BETWEEN, text] : text;
    });
    const tools = request.tools.length > 0 ? `"tools":[${request.tools.map(json.tool).join(',')}],` : '';
    const settings = JSON.stringify({
      ...dialect.settings(request.settings, request.tools.length > 0),
      stream: true,
      ...(dialect.asksForUsage ? { stream_options: { include_usage: true } } : {}),
    }).slice(1);
    return `{"model":${JSON.stringify(model)},"messages":[${messages.join(',')}],${tools}${settings}`;
  };
}

/** Separates the results of tools from what a person says. */
const BETWEEN = '{"role":"assistant","content":"I have the results."}';

/** Thoughts with calls must come back; lost ones may be empty, but not absent. */
function isCalling(item: Item): boolean {
  return item.role === 'assistant' && item.content.some(({ type }) => type === 'tool-call');
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
  return `{"role":"user","content":${JSON.stringify(text)}}`;
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
  });
}

function resultText({ toolCallId, output }: ResultPart): string {
  return JSON.stringify({ role: 'tool', tool_call_id: toolCallId, content: 'value' in output ? output.value : '' });
}

function toolText({ name, description, parameters }: ToolSpec): string {
  return JSON.stringify({ type: 'function', function: { name, description, parameters } });
}
