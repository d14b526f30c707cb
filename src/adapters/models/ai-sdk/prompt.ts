/**
 * Converts a conversation to an AI SDK prompt, caching each message. People edit conversations and
 * write while tools run, but providers require every tool call to be followed by its result. So
 * messages in between move after the results, a missing result is stated, and a stray one becomes
 * text. Only the agent's file gives system text: a `system` message in a conversation was written
 * by a person or another program, so it becomes a labelled message of the user.
 */
import type { OpenAIProvider } from '@ai-sdk/openai';
import type { Message } from '../../../domain/session/session.js';
import type { ToolSpec } from '../../../ports/model.js';
import { callId } from './text/call-id.js';
import { memoize } from './memoize.js';

export type LanguageModel = ReturnType<OpenAIProvider['chat']>;
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
type Assistant = Extract<Prompt[number], { role: 'assistant' }>;
type ResultPart = Extract<Extract<Prompt[number], { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

export interface PromptWriter {
  toPrompt(system: string, messages: readonly Message[]): Prompt;
  toTools(tools: readonly ToolSpec[]): CallOptions['tools'];
}

/** A long conversation changes at its end, so converted messages are kept for the next call. */
export function promptWriter(): PromptWriter {
  const convert: MessageConverter = { answer: memoize(answerMessage), result: resultConverter() };
  const toolsOf = memoize(sdkTools);
  return {
    toPrompt: (system, messages) => toPrompt(system, messages, convert),
    toTools: (tools) => (tools.length === 0 ? undefined : toolsOf(tools)),
  };
}

interface MessageConverter {
  answer(message: Message): Assistant;
  result(message: Message, toolName: string): ResultPart;
}

function toPrompt(system: string, messages: readonly Message[], convert: MessageConverter): Prompt {
  const prompt: Prompt = [];
  if (system !== '') prompt.push({ role: 'system', content: system });
  /** Calls of the last answer that have no result yet. */
  const open = new Map<string, string>();
  let results: ResultPart[] | undefined;
  /** Messages written before all results had arrived. */
  let between: Message[] = [];
  const closeCalls = () => {
    for (const [id, name] of open) addResult(resultPart(id, name, 'The result of this call is missing.', true));
    open.clear();
    results = undefined;
    for (const message of between) addUser(prompt, userText(message));
    between = [];
  };
  const addResult = (part: ResultPart) => {
    if (results) results.push(part);
    else prompt.push({ role: 'tool', content: (results = [part]) });
  };

  for (const message of messages) {
    const name = message.role === 'tool' ? open.get(message.toolCallId ?? '') : undefined;
    if (name !== undefined) {
      open.delete(message.toolCallId!);
      addResult(convert.result(message, name));
    } else if (message.role === 'assistant') {
      closeCalls();
      const answer = convert.answer(message);
      if (answer.content.length > 0) prompt.push(answer);
      for (const call of message.toolCalls ?? []) open.set(call.id, call.name);
    } else between.push(message);
  }
  closeCalls();
  return prompt;
}

function userText({ role, name, from, content }: Message): string {
  if (role === 'system') return `[note in the conversation, from ${from ?? 'a person or another program'}]\n${content}`;
  return role === 'tool' ? `[result of ${name ?? 'a tool'}]\n${content}` : content;
}

/** Providers want turns to alternate, so consecutive user messages become one turn. */
function addUser(prompt: Prompt, text: string): void {
  const last = prompt.at(-1);
  if (last?.role !== 'user') prompt.push({ role: 'user', content: [{ type: 'text', text }] });
  else {
    const part = last.content[0];
    if (part?.type === 'text') part.text = `${part.text}\n\n${text}`;
  }
}

function answerMessage(message: Message): Assistant {
  return {
    role: 'assistant',
    content: [
      ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
      ...(message.toolCalls ?? []).map((call) => ({
        type: 'tool-call' as const,
        toolCallId: callId(call.id),
        toolName: call.name,
        input: call.arguments,
      })),
    ],
  };
}

function resultConverter(): MessageConverter['result'] {
  const cache = new WeakMap<Message, ResultPart>();
  return (message, toolName) => {
    let part = cache.get(message);
    if (part?.toolName !== toolName) {
      part = resultPart(message.toolCallId!, toolName, message.content, message.isError === true);
      cache.set(message, part);
    }
    return part;
  };
}

function resultPart(id: string, name: string, text: string, isError: boolean): ResultPart {
  return {
    type: 'tool-result',
    toolCallId: callId(id),
    toolName: name,
    output: { type: isError ? 'error-text' : 'text', value: text },
  };
}

function sdkTools(tools: readonly ToolSpec[]): NonNullable<CallOptions['tools']> {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    name,
    description,
    inputSchema: parameters,
  }));
}
