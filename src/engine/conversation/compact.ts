/**
 * A conversation that is longer than the model's window, as the model is shown it. The file keeps everything; only the view
 * is shorter: the first message and the last turns whole, results of the turns before them shortened, what is older as
 * one message with an outline. What was left out once stays out, so each message is looked at a few times in all, and
 * the cost of a turn does not grow with the conversation.
 */
import type { Message } from '../../domain/session/session.js';
import { outlineLine, reference, shortened } from '../../rules/patterns/outline.js';
import { messageTokens } from '../../rules/budget/reserve.js';

/** Shares of the window: when a view is made, what of it stays whole, and how full it is then. */
const FULL = 0.85;
const WHOLE = 0.25;
const TARGET = 0.5;
const MOST_LINES = 100;
const MOST_REFERENCES = 200;

/** `tooLong`: the model itself said so. The view becomes half as long, and stays so; the same view where nothing can be left out. */
export type Fit = (messages: readonly Message[], tooLong?: boolean) => readonly Message[];

/** `headTokens`: what prompt and tools take. One for each time a conversation is opened. */
export function compactor(windowTokens: number, headTokens: number, answerTokens: number): Fit {
  let most = Math.max(1000, Math.min(windowTokens * FULL, windowTokens - answerTokens) - headTokens);
  let source: readonly Message[] = [];
  let seen = 0;
  let tokens = 0;
  let view: Message[] | undefined;
  /** Everything before this, but the first message, is left out. */
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
    else if (tokens > most && messages.length > 2) compact();
    return view ?? messages;
  };

  function halve(): void {
    const before = tokens;
    most = Math.min(most, tokens) / 2;
    const last = view;
    compact();
    // The last turn is kept whole above; here it must be shorter as well, or there is no answer at all.
    if (tokens > most) view = view!.map(shortened);
    tokens = sum(view!);
    if (tokens >= before) [view, tokens] = [last, before];
  }

  function compact(): void {
    const whole = start(source.length, most * (WHOLE / FULL), messageTokens);
    const middle = start(whole, most * ((TARGET - WHOLE) / FULL), (message) => messageTokens(shortened(message)));
    for (; from < middle; from++) {
      const message = source[from]!;
      (reference(message) === undefined ? lines : references).push(outlineLine(message));
    }
    lines = lines.slice(-MOST_LINES);
    references = references.slice(-MOST_REFERENCES);
    view = [
      source[0]!,
      ...(from > 1 ? [note()] : []),
      ...source.slice(from, whole).map((message) => unmetered(shortened(message))),
      ...source.slice(whole).map(unmetered),
    ];
    tokens = sum(view);
  }

  /** Where a stretch of about `room` tokens before `end` begins; never between a call and its result, whatever was said meanwhile. */
  function start(end: number, room: number, cost: (message: Message) => number): number {
    let at = end;
    let taken = 0;
    /** A result follows, and its call is further up. */
    let owed = false;
    for (let i = end - 1; i >= from; i--) {
      taken += cost(source[i]!);
      // One turn stays in any case: without it the model would not know what it is asked.
      if (taken > room && at < end) break;
      const { role } = source[i]!;
      owed = role === 'tool' || (owed && role !== 'assistant');
      if (!owed) at = i;
    }
    return at;
  }

  function note(): Message {
    const out = from - 1;
    const head = `${out} earlier ${out === 1 ? 'message is' : 'messages are'} left out here to fit your window; the session file has them all.`;
    const made = references.length > 0 ? `\n\nWhat came of tasks you gave away:\n${list(references)}` : '';
    return { role: 'user', content: `${head} In outline:\n${list(lines)}${made}`, from: 'guildhall' };
  }
}

function sum(messages: readonly Message[]): number {
  return messages.reduce((all, message) => all + messageTokens(message), 0);
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** What a call took when everything was shown says nothing about this view. */
function unmetered(message: Message): Message {
  const { usage: _, ...rest } = message;
  return rest;
}
