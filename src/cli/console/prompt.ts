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

/** One of a list: by the arrow keys, by its number, or by its first letters. Enter takes it. */
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
  let typed = '';
  for (;;) {
    const below = typed === '' ? [] : [`Your answer: ${typed}`];
    const room = Math.max(1, terminal.height - above.length - below.length - 2);
    const from = Math.max(0, Math.min(at - Math.floor(room / 2), choices.length - room));
    const rows = choices.slice(from, from + room).map((choice, i) => {
      const row = `${from + i === at ? '>' : ' '} ${from + i + 1} ${choice}`;
      return from + i === at ? terminal.bold(row) : row;
    });
    terminal.dock([...above, ...rows, ...below]);
    const key = await keyboard.next(signal);
    const left = leaves(key);
    if (left !== undefined) return left;
    const before = typed;
    if (key!.name === 'text' || key!.name === 'paste') typed += key!.text.replace(/\s+/g, ' ');
    else if (key!.name === 'backspace') typed = typed.slice(0, -1);
    else typed = '';
    if (key!.name === 'up') at = (at + choices.length - 1) % choices.length;
    else if (key!.name === 'down' || key!.name === 'tab') at = (at + 1) % choices.length;
    else if (key!.name === 'enter') {
      const choice = before === '' ? at : choiceMeant(choices, before);
      if (choice !== undefined) return { choice };
      terminal.say(`“${before.trim()}” is not one of the choices`);
    } else at = choiceMeant(choices, typed) ?? at;
  }
}

/** The choice with this text or number, or the only one that begins like this. */
function choiceMeant(choices: readonly string[], typed: string): number | undefined {
  const text = typed.trim().toLowerCase();
  if (text === '') return undefined;
  const lower = choices.map((choice) => choice.toLowerCase());
  if (lower.includes(text)) return lower.indexOf(text);
  if (/^\d+$/.test(text) && choices[Number(text) - 1] !== undefined) return Number(text) - 1;
  const alike = lower.flatMap((choice, i) => (choice.startsWith(text) ? [i] : []));
  return alike.length === 1 ? alike[0] : undefined;
}
