/**
 * The parts of an answer that its provider wants back: thoughts, signatures and ids of items, in
 * the order in which they came. Texts and calls are in the message, so a part only says how long
 * its share of the text is, or that the next call takes its place.
 */
import { attempt } from '../../../../domain/attempt.js';
import { defined } from '../../../../domain/defined.js';
import type { Message } from '../../../../domain/session/session.js';
import { callId } from '../text/call-id.js';
import type { Assistant, ProviderMetadata, ProviderOptions } from './types.js';

export type AnswerPart =
  | { type: 'text'; length: number; options?: ProviderOptions }
  | { type: 'reasoning'; text: string; options?: ProviderOptions }
  | { type: 'call'; options?: ProviderOptions }
  /** For chat completions: fields of the message, such as `reasoning_content`. */
  | { type: 'fields'; fields: Record<string, unknown> };

/** The field names that chat completions use for thoughts. No other field is ever sent back. */
export const THOUGHT_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_details'];

/** The key under which a prompt carries the fields for chat completions. */
export const FIELDS = 'message';

export interface PartCollector {
  text(id: string, length: number, metadata: ProviderMetadata): void;
  reasoning(id: string, text: string, metadata: ProviderMetadata): void;
  call(metadata: ProviderMetadata): void;
  /** Undefined if nothing needs to go back. */
  parts(): AnswerPart[] | undefined;
}

export function partCollector(): PartCollector {
  const parts: AnswerPart[] = [];
  const ids = new Map<string, AnswerPart>();
  const find = <Type extends AnswerPart['type']>(type: Type, id: string) => {
    const part = ids.get(`${type} ${id}`);
    return part?.type === type ? (part as Extract<AnswerPart, { type: Type }>) : undefined;
  };
  const add = (id: string, part: AnswerPart) => {
    parts.push(part);
    ids.set(`${part.type} ${id}`, part);
  };
  return {
    text(id, length, metadata) {
      const part = find('text', id);
      const options = optionsOf(metadata);
      // A signature may come with a last, empty piece. It belongs to that piece alone.
      const isOwnPiece = part !== undefined && options !== undefined && isSigned(options) && part.length > 0;
      if (part === undefined || isOwnPiece) return add(id, defined({ type: 'text', length, options }));
      part.length += length;
      if (options) part.options = merged(part.options, options);
    },
    reasoning(id, text, metadata) {
      const part = find('reasoning', id);
      const options = optionsOf(metadata);
      if (part === undefined) return add(id, defined({ type: 'reasoning', text, options }));
      part.text += text;
      if (options) part.options = merged(part.options, options);
    },
    call(metadata) {
      const options = optionsOf(metadata);
      parts.push(defined({ type: 'call', options }));
    },
    parts: () => (parts.some(isWanted) ? parts : undefined),
  };
}

/** Ids of items without thoughts are left out. */
function isWanted(part: AnswerPart): boolean {
  if (part.type === 'reasoning') return true;
  return (
    part.type !== 'fields' && part.options !== undefined && hasKey(part.options, /signature$|^reasoning_details$/i)
  );
}

function isSigned(options: ProviderOptions): boolean {
  return hasKey(options, /signature$/i);
}

function hasKey(options: ProviderOptions, key: RegExp): boolean {
  return Object.values(options).some((values) => Object.keys(values ?? {}).some((each) => key.test(each)));
}

function optionsOf(metadata: ProviderMetadata): ProviderOptions | undefined {
  const filled = Object.entries(metadata ?? {}).flatMap(([provider, values]) => {
    const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
    return given.length === 0 ? [] : [[provider, Object.fromEntries(given)] as const];
  });
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}

function merged(before: ProviderOptions | undefined, more: ProviderOptions): ProviderOptions {
  const result = { ...before };
  for (const [provider, values] of Object.entries(more)) result[provider] = { ...result[provider], ...values };
  return result;
}

/** The answer as the provider sent it. Its text and calls come from the message. */
export function answerWithParts(message: Message, parts: readonly AnswerPart[]): Assistant {
  const content: Assistant['content'] = [];
  const calls = [...(message.toolCalls ?? [])];
  let at = 0;
  let fields: Record<string, unknown> | undefined;
  const addText = (text: string, options?: ProviderOptions) =>
    text === '' && options === undefined
      ? undefined
      : content.push(defined({ type: 'text', text, providerOptions: options }));
  const addCall = (options?: ProviderOptions) => {
    const call = calls.shift();
    if (call)
      content.push(
        defined({
          type: 'tool-call',
          toolCallId: callId(call.id),
          toolName: call.name,
          input: call.arguments,
          providerOptions: options,
        }),
      );
  };
  for (const part of parts) {
    if (part.type === 'text') addText(message.content.slice(at, (at += part.length)), part.options);
    else if (part.type === 'call') addCall(part.options);
    else if (part.type === 'fields') fields = part.fields;
    else
      content.push(
        defined({
          type: 'reasoning',
          text: part.text,
          providerOptions: part.options,
        }),
      );
  }
  addText(message.content.slice(at));
  while (calls.length > 0) addCall();
  // No provider accepts a thought with nothing after it.
  while (content.at(-1)?.type === 'reasoning') content.pop();
  return defined({ role: 'assistant', content, providerOptions: fields ? { [FIELDS]: fields as never } : undefined });
}

/** Undefined if the text is not a list of parts. */
export function readParts(json: string): AnswerPart[] | undefined {
  const value: unknown = attempt(() => JSON.parse(json));
  return Array.isArray(value) && value.every(isPart) ? value : undefined;
}

function isPart(value: unknown): value is AnswerPart {
  if (typeof value !== 'object' || value === null) return false;
  const { type, length, text, options, fields } = value as Record<string, unknown>;
  const isMapping = (each: unknown) => typeof each === 'object' && each !== null;
  if (type === 'fields') return isMapping(fields) && Object.keys(fields).every((name) => THOUGHT_FIELDS.includes(name));
  if (options !== undefined && !isMapping(options)) return false;
  return (
    type === 'call' || (type === 'text' ? typeof length === 'number' : type === 'reasoning' && typeof text === 'string')
  );
}
