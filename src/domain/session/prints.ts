/**
 * Fingerprints of the messages of a conversation. A task that leaves a process keeps them, so that
 * the next process notices what a person changed in between.
 */
import { print53 } from '../task/id.js';
import type { Message } from './session.js';

const WIDTH = 6;
const DIFF_LINES = 40;
const DIFF_WIDTH = 160;

export interface SessionEdit {
  added: number;
  changed: number;
  removed: number;
  /** A few lines: `- ` marks removed ones, `+ ` added ones. */
  diff: string;
}

/** All fingerprints in one text, each with the same width. */
export function printsOf(messages: readonly Message[]): string {
  return messages.map(printOf).join('');
}

/**
 * The edit since these prints were taken; undefined if there was none. Messages that the program
 * itself wrote are not an edit.
 */
export function editSince(prints: string, messages: readonly Message[]): SessionEdit | undefined {
  const was = prints.match(new RegExp(`.{${WIDTH}}`, 'g')) ?? [];
  const now = messages.map(printOf);
  let first = 0;
  while (first < was.length && was[first] === now[first]) first++;
  if (first === now.length) return undefined; // unchanged, or a power cut took the end
  let same = 0;
  while (same < Math.min(was.length, now.length) - first && was.at(-1 - same) === now.at(-1 - same)) same++;
  const removed = was.length - first - same;
  const added = messages.slice(first, now.length - same);
  if (removed === 0 && added.every(isOurs)) return undefined;
  const changed = Math.min(removed, added.length);
  return {
    added: added.length - changed,
    changed,
    removed: removed - changed,
    diff: added
      .flatMap(({ role, content }, n) => [`@ message ${first + n + 1}, ${role}`, ...content.split('\n').map(plus)])
      .slice(0, DIFF_LINES)
      .join('\n'),
  };
}

function printOf({ role, content, toolCalls = [], toolCallId = '' }: Message): string {
  const calls = toolCalls.map(({ id, name, arguments: args }) => [id, name, args]);
  return print53(JSON.stringify([role, content, calls, toolCallId]))
    .toString(36)
    .slice(-WIDTH)
    .padStart(WIDTH, '0');
}

function isOurs({ role, kind, usage }: Message): boolean {
  return kind !== undefined || usage !== undefined || role === 'tool';
}

function plus(line: string): string {
  return `+ ${line.slice(0, DIFF_WIDTH)}`;
}
