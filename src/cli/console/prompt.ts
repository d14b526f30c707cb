/** Prompts at the bottom of the terminal: one key, a line, a choice. */
import type { Terminal } from '../render/terminal.js';
import { draftOf, draftRows, edited } from './line-editor.js';
import type { Key, Keyboard } from './keyboard.js';

/** The person pressed Ctrl-C, Ctrl-D or Escape, or somebody else answered. */
export type Left = 'interrupt' | 'end' | 'back' | 'gone';

export function leaves(key: Key | undefined): Left | undefined {
  if (key === undefined) return 'gone';
  if (key.name === 'interrupt') return 'interrupt';
  if (key.name === 'end') return 'end';
  return key.name === 'escape' ? 'back' : undefined;
}

/** A line or several; Enter ends it, Alt-Enter and Ctrl-J start a new line. */
export async function askText(
  terminal: Terminal,
  keyboard: Keyboard,
  {
    prompt,
    given = '',
    above = [],
    signal,
  }: { prompt: string; given?: string; above?: string[]; signal?: AbortSignal },
): Promise<{ text: string } | Left> {
  let draft = draftOf(given);
  for (;;) {
    const { rows, cursor } = draftRows(draft, prompt, terminal.width);
    terminal.dock([...above, ...rows], { ...cursor, row: cursor.row + above.length });
    const key = await keyboard.next(signal);
    const left = key?.name === 'end' && draft.text !== '' ? undefined : leaves(key);
    if (left !== undefined) return left;
    if (key!.name === 'enter') {
      if (!draft.text.slice(0, draft.at).endsWith('\\')) return { text: draft.text };
      draft = edited(edited(draft, { name: 'backspace' })!, { name: 'newline' })!;
    } else draft = edited(draft, key!) ?? draft;
  }
}

/** One of a list, by arrows and Enter or by its number. */
export async function askChoice(
  terminal: Terminal,
  keyboard: Keyboard,
  {
    choices,
    first,
    above,
    signal,
  }: { choices: readonly string[]; first: number; above: string[]; signal?: AbortSignal },
): Promise<{ choice: number } | Left> {
  let at = Math.max(0, first);
  for (;;) {
    const room = Math.max(1, terminal.height - above.length - 2);
    const from = Math.max(0, Math.min(at - Math.floor(room / 2), choices.length - room));
    const rows = choices.slice(from, from + room).map((choice, i) => {
      const row = `${from + i === at ? '>' : ' '} ${from + i + 1} ${choice}`;
      return from + i === at ? terminal.bold(row) : row;
    });
    terminal.dock([...above, ...rows]);
    const key = await keyboard.next(signal);
    const left = leaves(key);
    if (left !== undefined) return left;
    if (key!.name === 'up') at = (at + choices.length - 1) % choices.length;
    else if (key!.name === 'down' || key!.name === 'tab') at = (at + 1) % choices.length;
    else if (key!.name === 'enter') return { choice: at };
    else if (key!.name === 'text') {
      const number = Number(key!.text) - 1;
      if (Number.isInteger(number) && choices[number] !== undefined) at = number;
    }
  }
}
