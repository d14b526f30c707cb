/**
 * A conversation of ours as a prompt in the words of the AI SDK. Each message is converted once and remembered, so that the
 * hundredth turn does not pay for the ninety-nine before it.
 *
 * People edit conversations, and speak while tools run. Providers refuse a tool call that is not followed by its result and a
 * result without a call: so what was said between the two comes after the results, a missing result is said to be missing, and a
 * stray one becomes plain text.
 */
import type { OpenAIProvider } from '@ai-sdk/openai';
import type { Message } from '../../../domain/session/session.js';
import type { ToolSpec } from '../../../ports/model.js';

export type LanguageModel = ReturnType<OpenAIProvider['chat']>;
export type CallOptions = Parameters<LanguageModel['doStream']>[0];
export type Prompt = CallOptions['prompt'];
type Assistant = Extract<Prompt[number], { role: 'assistant' }>;
type ResultPart = Extract<Extract<Prompt[number], { role: 'tool' }>['content'][number], { type: 'tool-result' }>;

export function toPrompt(system: string, messages: readonly Message[]): Prompt {
  const prompt: Prompt = [];
  const first = messages.findIndex((one) => one.role !== 'system');
  const rest = first === -1 ? [] : messages.slice(first);
  const heads = [system, ...messages.slice(0, messages.length - rest.length).map((one) => one.content)].filter(
    (text) => text !== '',
  );
  if (heads.length > 0) prompt.push({ role: 'system', content: heads.join('\n\n') });
  /** Calls of the last answer that have no result yet. */
  const open = new Map<string, string>();
  let results: ResultPart[] | undefined;
  /** Said while results were still to come. */
  let between: Message[] = [];
  const closeCalls = () => {
    for (const [id, name] of open) addResult(resultPart(id, name, 'No result of this call was kept.', true));
    open.clear();
    results = undefined;
    for (const message of between) addUser(prompt, spoken(message));
    between = [];
  };
  const addResult = (part: ResultPart) => {
    if (results) results.push(part);
    else prompt.push({ role: 'tool', content: (results = [part]) });
  };

  for (const message of rest) {
    const name = message.role === 'tool' ? open.get(message.toolCallId ?? '') : undefined;
    if (name !== undefined) {
      open.delete(message.toolCallId!);
      addResult(keptResult(message, name));
    } else if (message.role === 'assistant') {
      closeCalls();
      const said = keptAnswer(message);
      if (said.content.length > 0) prompt.push(said);
      for (const call of message.toolCalls ?? []) open.set(call.id, call.name);
    } else between.push(message);
  }
  closeCalls();
  return prompt;
}

function spoken({ role, name, content }: Message): string {
  return role === 'tool' ? `[result of ${name ?? 'a tool'}]\n${content}` : content;
}

/** Providers want turns to alternate; what several people said in a row is one turn. */
function addUser(prompt: Prompt, text: string): void {
  const last = prompt.at(-1);
  if (last?.role !== 'user') prompt.push({ role: 'user', content: [{ type: 'text', text }] });
  else {
    const part = last.content[0];
    if (part?.type === 'text') part.text = `${part.text}\n\n${text}`;
  }
}

const answers = new WeakMap<Message, Assistant>();
function keptAnswer(message: Message): Assistant {
  let kept = answers.get(message);
  if (!kept) {
    kept = {
      role: 'assistant',
      content: [
        ...(message.content === '' ? [] : [{ type: 'text' as const, text: message.content }]),
        ...(message.toolCalls ?? []).map((call) => ({
          type: 'tool-call' as const,
          toolCallId: wireId(call.id),
          toolName: call.name,
          input: call.arguments,
        })),
      ],
    };
    answers.set(message, kept);
  }
  return kept;
}

const keptResults = new WeakMap<Message, ResultPart>();
function keptResult(message: Message, name: string): ResultPart {
  let kept = keptResults.get(message);
  if (!kept || kept.toolName !== name) {
    kept = resultPart(message.toolCallId!, name, message.content, message.isError === true);
    keptResults.set(message, kept);
  }
  return kept;
}

function resultPart(id: string, name: string, text: string, isError: boolean): ResultPart {
  return {
    type: 'tool-result',
    toolCallId: wireId(id),
    toolName: name,
    output: { type: isError ? 'error-text' : 'text', value: text },
  };
}

/** A conversation may go on with another provider: these characters suit all of them. */
function wireId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_');
}

const converted = new WeakMap<readonly ToolSpec[], NonNullable<CallOptions['tools']>>();
export function toTools(tools: readonly ToolSpec[]): CallOptions['tools'] {
  if (tools.length === 0) return undefined;
  let kept = converted.get(tools);
  if (!kept) {
    kept = tools.map(({ name, description, parameters }) => ({
      type: 'function' as const,
      name,
      description,
      inputSchema: parameters,
    }));
    converted.set(tools, kept);
  }
  return kept;
}
