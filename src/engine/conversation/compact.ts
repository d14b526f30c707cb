/**
 * Fits a long conversation into the model's window; the file keeps everything. The view has the
 * first message, an outline of old messages, shortened results, and the last turns in full.
 * Messages left out stay out, so the cost of a turn does not grow with the conversation.
 */
import type { Message } from '../../domain/session/session.js';
import { outlineLine, reference, shortened } from '../../rules/patterns/outline.js';
import { messageTokens } from '../../rules/budget/reserve.js';

/** Shares of the window: compact above FULL, down to TARGET, of which UNCUT is not shortened. */
const FULL = 0.85;
const UNCUT = 0.25;
const TARGET = 0.5;
const MAX_LINES = 100;
const MAX_REFERENCES = 200;

/**
 * `tooLong`: the model rejected the view. It becomes half as long and stays so; the same view is
 * returned if nothing can be left out.
 */
export type Fit = (messages: readonly Message[], tooLong?: boolean) => readonly Message[];

/** `headTokens`: the size of prompt and tools. Each opened conversation has its own compactor. */
export function compactor(windowTokens: number, headTokens: number, answerTokens: number): Fit {
  let maxTokens = Math.max(1000, Math.min(windowTokens * FULL, windowTokens - answerTokens) - headTokens);
  let source: readonly Message[] = [];
  let seen = 0;
  let tokens = 0;
  let view: Message[] | undefined;
  /** Messages before this index are left out, except the first. */
  let from = 1;
  let lines: string[] = [];
  let references: string[] = [];

  return (messages, tooLong = false) => {
    if (source !== messages || messages.length < seen) {
      [source, seen, tokens, view, from, lines, references] = [messages, 0, 0, undefined, 1, [], []];
    }
    for (; seen < messages.length; seen++) {
      tokens += messageTokens(messages[seen]!);
      view?.push(messages[seen]!);
    }
    if (tooLong) halve();
    else if (tokens > maxTokens && messages.length > 2) compact();
    return view ?? messages;
  };

  function halve(): void {
    const before = tokens;
    maxTokens = Math.min(maxTokens, tokens) / 2;
    const last = view;
    compact();
    // `compact` never shortens the last turn. Here it must, or the model cannot answer at all.
    if (tokens > maxTokens) view = view!.map(shortened);
    tokens = sum(view!);
    if (tokens >= before) [view, tokens] = [last, before];
  }

  function compact(): void {
    const uncut = start(source.length, maxTokens * (UNCUT / FULL), messageTokens);
    const middle = start(uncut, maxTokens * ((TARGET - UNCUT) / FULL), (message) => messageTokens(shortened(message)));
    for (; from < middle; from++) {
      const message = source[from]!;
      (reference(message) === undefined ? lines : references).push(outlineLine(message));
    }
    lines = lines.slice(-MAX_LINES);
    references = references.slice(-MAX_REFERENCES);
    view = [
      source[0]!,
      ...(from > 1 ? [note()] : []),
      ...source.slice(from, uncut).map((message) => unmetered(shortened(message))),
      ...source.slice(uncut).map(unmetered),
    ];
    tokens = sum(view);
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

  function note(): Message {
    const out = from - 1;
    const head = `${out} earlier ${out === 1 ? 'message is' : 'messages are'} left out here to fit your context window; the session file has all of them.`;
    const results = references.length > 0 ? `\n\nResults of tasks you gave away:\n${list(references)}` : '';
    return { role: 'user', content: `${head} Outline:\n${list(lines)}${results}`, from: 'guildhall' };
  }
}

function sum(messages: readonly Message[]): number {
  return messages.reduce((total, message) => total + messageTokens(message), 0);
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** The recorded token counts are those of the full conversation, not of this view. */
function unmetered(message: Message): Message {
  const { usage: _, ...rest } = message;
  return rest;
}
