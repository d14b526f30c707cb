/**
 * The system text and the tools of a conversation are pinned when it starts and stored as blobs
 * that its header names. Every call sends the same bytes before the messages, so caches hit and
 * signed thoughts stay valid. A message with new pins replaces them from then on.
 */
import { attempt } from '../../domain/attempt.js';
import { createHash } from 'node:crypto';
import type { Message, Pins, Session } from '../../domain/session/session.js';
import type { ToolSpec } from '../../ports/model.js';
import type { EngineContext } from '../core/context.js';
import type { PromptHead } from './prompt.js';

/** Prompts that this process remembers; every conversation of an agent on one day has the same. */
const MAX_REMEMBERED = 200;

export function pinsOf(context: EngineContext, head: PromptHead): Pins {
  const pins = { system: sha256(head.system), tools: sha256(toolsText(head)) };
  remember(context, pins, head);
  return pins;
}

export async function storePins({ blobs }: EngineContext, head: PromptHead): Promise<void> {
  await Promise.all([blobs.put(head.system), blobs.put(toolsText(head))]);
}

/** The pins that are in force at the end of the conversation; undefined in older files. */
export function currentPins({ header, messages }: Session): Pins | undefined {
  return messages.findLast((message: Message) => message.pins !== undefined)?.pins ?? header.pins;
}

interface PinStore extends Pick<EngineContext, 'blobs'> {
  folds: Pick<EngineContext['folds'], 'heads'>;
}

/** Undefined if a blob is missing or damaged. */
export async function readPins(context: PinStore, pins: Pins): Promise<PromptHead | undefined> {
  const known = context.folds.heads.get(keyOf(pins));
  if (known !== undefined) return known;
  const [system, tools] = await Promise.all([context.blobs.get(pins.system), context.blobs.get(pins.tools)]);
  const specs = tools && toolsIn(tools.toString('utf8'));
  if (system === undefined || specs === undefined) return undefined;
  const head = { system: system.toString('utf8'), tools: specs };
  remember(context, pins, head);
  return head;
}

function remember({ folds: { heads } }: Pick<PinStore, 'folds'>, pins: Pins, head: PromptHead): void {
  if (heads.size >= MAX_REMEMBERED) heads.clear();
  heads.set(keyOf(pins), head);
}

function keyOf({ system, tools }: Pins): string {
  return `${system} ${tools}`;
}

function toolsText({ tools }: PromptHead): string {
  return JSON.stringify(tools, null, 1);
}

function toolsIn(text: string): ToolSpec[] | undefined {
  const tools: unknown = attempt(() => JSON.parse(text));
  return Array.isArray(tools) && tools.every((tool) => typeof tool?.name === 'string') ? tools : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
