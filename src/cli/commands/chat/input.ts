/** The input line of a chat, with a row above it that says what the agent is doing. */
import { INTERVALS } from '../../../domain/intervals.js';
import { draftOf, draftRows, edited, type Draft } from '../../console/line-editor.js';
import type { Keyboard } from '../../console/keyboard.js';
import type { Terminal } from '../../render/terminal.js';

interface Reading {
  terminal: Terminal;
  keyboard: Keyboard;
  history: readonly string[];
  prompt: string;
  /** The text typed so far. It is kept when the work ends while the person types. */
  draft: { text: string };
  status(): string[];
  /** Ends the reading when it resolves. */
  until: Promise<unknown> | undefined;
  /** The text to insert for a paste; undefined: the paste itself. */
  onPaste(text: string): string | undefined;
}

export async function readInput(reading: Reading): Promise<{ text: string } | 'interrupt' | 'end' | 'work'> {
  const { terminal, keyboard, history, prompt, until } = reading;
  let draft: Draft = draftOf(reading.draft.text);
  const stop = new AbortController();
  until?.then(
    () => stop.abort(),
    () => stop.abort(),
  );
  const draw = (): void => {
    const { rows, cursor } = draftRows(draft, prompt, terminal.width);
    const above = reading.status();
    terminal.dock([...above, ...rows], { ...cursor, row: cursor.row + above.length });
  };
  const ticker = until === undefined ? undefined : setInterval(draw, INTERVALS.frameMs);
  try {
    for (;;) {
      draw();
      const key = await keyboard.next(stop.signal);
      if (key === undefined) return stop.signal.aborted ? 'work' : 'end';
      // While the agent works, this key stops the turn and keeps the draft.
      if (key.name === 'interrupt' && (draft.text === '' || until !== undefined)) return 'interrupt';
      if (key.name === 'interrupt') draft = draftOf('');
      else if (key.name === 'end' && draft.text === '') return 'end';
      else if (key.name === 'enter' && !draft.text.slice(0, draft.at).endsWith('\\')) {
        const { text } = draft;
        draft = draftOf('');
        return { text };
      } else if (key.name === 'enter') draft = edited(edited(draft, { name: 'backspace' })!, { name: 'newline' })!;
      else if (key.name === 'paste') {
        const text = reading.onPaste(key.text) ?? key.text;
        draft = edited(draft, { name: 'paste', text })!;
      } else draft = edited(draft, key, history) ?? draft;
    }
  } finally {
    reading.draft.text = draft.text;
    clearInterval(ticker);
    terminal.dock([]);
  }
}
