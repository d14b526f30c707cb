/**
 * Converts a conversation to an AI SDK prompt, caching each message. People edit conversations and
 * write while tools run, but providers require every tool call to be followed by its result. So
 * messages in between move after the results, a missing result is stated, and a result without its
 * call becomes text. Only the agent's file gives system text: a `system` message in a conversation
 * was written by a person or another program, so it becomes a labelled message of the user.
 */
import type { Message } from '../../../../domain/session/session.js';
import type { ToolSpec } from '../../../../ports/model.js';
import { callId } from '../text/call-id.js';
import { answerWithParts, type AnswerPart } from './answer-parts.js';
import { memoize } from './memoize.js';
import type { Media } from './media.js';
import type { Assistant, CallOptions, FilePart, Prompt, ResultPart } from './types.js';

export interface PromptWriter {
  /** `thoughts`: the data that goes back with each answer. */
  toPrompt(system: string, messages: readonly Message[], thoughts?: Thoughts, media?: Media): Prompt;
  toTools(tools: readonly ToolSpec[]): CallOptions['tools'];
}

type Thoughts = ReadonlyMap<Message, readonly AnswerPart[]>;

/** A long conversation changes at its end, so converted messages are kept for the next call. */
export function promptWriter(): PromptWriter {
  const [plain, result] = [memoize(answerMessage), resultConverter()];
  const thoughtful = thoughtfulAnswers();
  const toolsOf = memoize(sdkTools);
  return {
    toPrompt(system, messages, thoughts, media) {
      const answer = (message: Message) => {
        const parts = thoughts?.get(message);
        return parts ? thoughtful(message, parts) : plain(message);
      };
      return toPrompt(system, messages, { answer, result }, media);
    },
    toTools: (tools) => (tools.length === 0 ? undefined : toolsOf(tools)),
  };
}

interface MessageConverter {
  answer(message: Message): Assistant;
  result(message: Message, toolName: string): ResultPart;
}

function toPrompt(
  system: string,
  messages: readonly Message[],
  convert: MessageConverter,
  media: Media | undefined,
): Prompt {
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
    for (const message of between) addUser(prompt, userText(message), filesOf(message, media));
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
      const isShown = message.files !== undefined && media !== undefined;
      addResult(isShown ? resultWithFiles(message, name, media) : convert.result(message, name));
      if (isShown && !media.isInside) between.push(...filesAfter(message, media));
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

/**
 * For models of Mistral, at every server: after a result the assistant speaks, never the user. So a
 * short answer is put between the results and a person's message.
 */
export function separated(prompt: Prompt): Prompt {
  return prompt.flatMap((message, at) =>
    message.role === 'user' && prompt[at - 1]?.role === 'tool' ? [BETWEEN, message] : [message],
  );
}

export function needsSeparation(model: string): boolean {
  return /mistral|mixtral|magistral|devstral|codestral|pixtral/i.test(model);
}

const BETWEEN: Assistant = { role: 'assistant', content: [{ type: 'text', text: 'I have the results.' }] };

function userText({ role, name, from, content }: Message): string {
  if (role === 'system') return `[note in the conversation, from ${from ?? 'a person or another program'}]\n${content}`;
  return role === 'tool' ? `[result of ${name ?? 'a tool'}]\n${content}` : content;
}

/** Providers want turns to alternate, so consecutive user messages become one turn. */
function addUser(prompt: Prompt, text: string, { files, notes }: Shown = NOTHING): void {
  const said = [text, ...notes].join('\n');
  const last = prompt.at(-1);
  if (last?.role !== 'user') prompt.push({ role: 'user', content: [{ type: 'text', text: said }, ...files] });
  else {
    const part = last.content[0];
    if (part?.type === 'text') part.text = `${part.text}\n\n${said}`;
    last.content.push(...files);
  }
}

/** The files that a model sees, and notes for the files that it does not see. */
interface Shown {
  files: FilePart[];
  notes: string[];
}

const NOTHING: Shown = { files: [], notes: [] };

function filesOf({ files = [] }: Message, media: Media | undefined): Shown {
  const shown: Shown = { files: [], notes: [] };
  for (const file of media ? files : []) {
    const seen = media!.show(file);
    if ('note' in seen) shown.notes.push(seen.note);
    else
      shown.files.push({
        type: 'file',
        data: { type: 'data', data: seen.data },
        mediaType: file.mediaType,
        filename: file.name,
      });
  }
  return shown;
}

function resultWithFiles(message: Message, toolName: string, media: Media): ResultPart {
  const { files, notes } = filesOf(message, media);
  const text = [message.content, ...notes].join('\n');
  const plain = resultPart(message.toolCallId!, toolName, text, message.isError === true);
  if (files.length === 0 || !media.isInside) return plain;
  return { ...plain, output: { type: 'content', value: [{ type: 'text', text }, ...files] } };
}

/** For servers whose results are text: the files follow in a separate message. */
function filesAfter(message: Message, media: Media): Message[] {
  const files = (message.files ?? []).filter((file) => 'data' in media.show(file));
  if (files.length === 0) return [];
  return [{ role: 'user', content: `[files of the result above: ${files.map(({ name }) => name).join(', ')}]`, files }];
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

/** The parts of a message are memoized, so every call gets the same list. */
function thoughtfulAnswers(): (message: Message, parts: readonly AnswerPart[]) => Assistant {
  const cache = new WeakMap<readonly AnswerPart[], Assistant>();
  return (message, parts) => {
    let answer = cache.get(parts);
    if (answer === undefined) cache.set(parts, (answer = answerWithParts(message, parts)));
    return answer;
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
