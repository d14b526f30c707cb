/**
 * Fits a long conversation into the model's window; the file keeps everything. A message of kind
 * `compacted` says how many messages are left out and holds their outline, so every process shows
 * the model the same. The view has the first message, the outline, shortened results, and the last
 * turns in full.
 */
import type { MessageFacts } from '../core/context.js';
import type { Compacted, Message } from '../../domain/session/session.js';
import { outlineLine, reference, shortened } from '../../rules/patterns/outline.js';
import { messageTokens } from '../../rules/budget/reserve.js';
import { controlMessage, type Draft } from './decide/step.js';

/** Shares of the window: compact above FULL, down to TARGET, of which UNCUT is not shortened. */
const FULL = 0.85;
const UNCUT = 0.25;
const TARGET = 0.5;
const MAX_LINES = 100;
const MAX_REFERENCES = 200;
/** Messages that an outline looks back at, so that its cost is bounded. */
const MAX_SCANNED = 600;

export interface Compactor {
  /** The messages as the model gets them. Its cost does not grow with the conversation. */
  view(messages: readonly Message[]): readonly Message[];
  /**
   * The message to append before the next call; undefined if the view fits or nothing can be left
   * out. `tooLong`: the model rejected the view, so it becomes half as long.
   */
  compaction(messages: readonly Message[], tooLong?: boolean): Draft | undefined;
}

/**
 * `headTokens`: the size of prompt and tools. `known`: what was found in the messages before. Each
 * opened conversation has its own compactor.
 */
export function compactor(
  windowTokens: number,
  headTokens: number,
  answerTokens: number,
  known?: (messages: readonly Message[]) => Pick<MessageFacts, 'isCompacted' | 'tokens'>,
): Compactor {
  let maxTokens = Math.max(1000, Math.min(windowTokens * FULL, windowTokens - answerTokens) - headTokens);
  let source: readonly Message[] = [];
  let seen = 0;
  let shown: Message[] | undefined;
  let tokens = 0;
  /** Messages before this index are left out, except the first. */
  let from = 1;

  return {
    view(messages) {
      read(messages);
      return shown ?? messages;
    },
    compaction(messages, tooLong = false) {
      read(messages);
      if (tooLong) maxTokens = Math.min(maxTokens, tokens) / 2;
      if (tokens <= maxTokens || messages.length <= 2) return undefined;
      const next = plan(tooLong);
      const isSmaller = sum(viewOf(source, source.length, next)) < tokens;
      if (!isSmaller) return undefined;
      return { ...controlMessage('compacted', noteText(source, next.upTo)), compacted: next };
    },
  };

  function read(messages: readonly Message[]): void {
    if (source !== messages || messages.length < seen)
      [source, seen, shown, tokens, from] = [messages, 0, undefined, 0, 1];
    const facts = seen === 0 ? known?.(messages) : undefined;
    if (facts?.isCompacted === false) [seen, tokens] = [messages.length, facts.tokens];
    for (; seen < messages.length; seen++) {
      const message = messages[seen]!;
      const { compacted } = message;
      if (compacted !== undefined && isValid(compacted, seen)) {
        shown = [...viewOf(source, seen, compacted, message)];
        [tokens, from] = [sum(shown), compacted.upTo];
      } else {
        shown?.push(message);
        tokens += messageTokens(message);
      }
    }
  }

  function plan(tooLong: boolean): Compacted {
    const uncut = start(source.length, maxTokens * (UNCUT / FULL), messageTokens);
    const middle = start(uncut, maxTokens * ((TARGET - UNCUT) / FULL), (message) => messageTokens(shortened(message)));
    const next = { upTo: middle, shortTo: uncut };
    // The last turn is shortened only if the model cannot answer otherwise.
    const isEnough = sum(viewOf(source, source.length, next)) <= maxTokens;
    return tooLong && !isEnough ? { ...next, shortTo: source.length } : next;
  }

  /** Start of about `room` tokens before `end`; never between a call and its result. */
  function start(end: number, room: number, cost: (message: Message) => number): number {
    let at = end;
    let taken = 0;
    /** A result follows whose call comes earlier. */
    let isInsideTurn = false;
    for (let i = end - 1; i >= from; i--) {
      taken += cost(source[i]!);
      // One turn always stays: without it the model would not know what it is asked.
      if (taken > room && at < end) break;
      const { role } = source[i]!;
      isInsideTurn = role === 'tool' || (isInsideTurn && role !== 'assistant');
      if (!isInsideTurn) at = i;
    }
    return at;
  }
}

/** A person may have removed messages, so that the numbers no longer fit. */
function isValid({ upTo, shortTo }: Compacted, at: number): boolean {
  return upTo >= 1 && upTo <= shortTo && shortTo <= at;
}

/** The messages up to `end`. Earlier outlines are part of the last one. */
function viewOf(source: readonly Message[], end: number, { upTo, shortTo }: Compacted, note?: Message): Message[] {
  const kept = (from: number, to: number): Message[] =>
    source.slice(from, to).filter(({ compacted }) => compacted === undefined);
  const outline = note ?? { role: 'user' as const, content: noteText(source, upTo) };
  return [
    source[0]!,
    ...(upTo > 1 ? [outline] : []),
    ...kept(upTo, shortTo).map((message) => unmetered(shortened(message))),
    ...kept(shortTo, end).map(unmetered),
  ];
}

function noteText(source: readonly Message[], upTo: number): string {
  const out = upTo - 1;
  const lines: string[] = [];
  const references: string[] = [];
  for (let i = upTo - 1; i >= Math.max(1, upTo - MAX_SCANNED); i--) {
    const message = source[i]!;
    if (message.compacted !== undefined) continue;
    const list = reference(message) === undefined ? lines : references;
    if (list.length < (list === lines ? MAX_LINES : MAX_REFERENCES)) list.unshift(outlineLine(message));
  }
  const head = `${out} earlier ${out === 1 ? 'message is' : 'messages are'} left out here to fit your context window; the session file has all of them.`;
  const results = references.length > 0 ? `\n\nResults of tasks you gave away:\n${listed(references)}` : '';
  return `${head} Outline:\n${listed(lines)}${results}`;
}

function sum(messages: readonly Message[]): number {
  return messages.reduce((total, message) => total + messageTokens(message), 0);
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** The recorded token counts are those of the full conversation, not of this view. */
function unmetered(message: Message): Message {
  const { usage: _, ...rest } = message;
  return rest;
}
