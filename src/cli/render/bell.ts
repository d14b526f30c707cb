/**
 * The bell of a terminal, and a notification where the terminal is known to show one. Other
 * terminals would print the sequence, or show it twice.
 */
import type { Env } from '../../domain/config/env.js';
import { printable } from './paint.js';

const BELL = '\u0007';
const OSC = '\u001b]';
const MAX_CHARS = 200;

export function bell({ title, text }: { title: string; text: string }, env: Env): string {
  // Inside of tmux or screen the sequence would reach the wrong program.
  if (env['TMUX'] !== undefined || env['STY'] !== undefined) return BELL;
  const clean = (words: string): string => printable(words.replace(/\s+/g, ' ')).slice(0, MAX_CHARS);
  const program = env['TERM_PROGRAM'] ?? '';
  if (/^(iTerm\.app|WezTerm|ghostty)$/.test(program) || env['KITTY_WINDOW_ID'] !== undefined)
    return `${BELL}${OSC}9;${clean(`${title}: ${text}`)}${BELL}`;
  if (/^(rxvt|foot)/.test(env['TERM'] ?? ''))
    return `${BELL}${OSC}777;notify;${clean(title).replaceAll(';', ',')};${clean(text)}${BELL}`;
  return BELL;
}
