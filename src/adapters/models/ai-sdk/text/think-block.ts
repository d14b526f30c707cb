/**
 * Takes thoughts out of the text of models whose server does not: a `<think>` block at the very
 * beginning. Works on streamed text, so a possible beginning of a block is held back until it is
 * clear whether it is one.
 */
export interface ThinkFilter {
  /** The text to show now. */
  push(delta: string): string;
  /** Returns the text that was held back, at the end of the stream. */
  end(): string;
}

const OPEN = '<think>';
const CLOSE = '</think>';

export function thinkFilter(): ThinkFilter {
  let state: 'start' | 'inside' | 'after' | 'text' = 'start';
  let held = '';
  const show = (text: string): string => {
    const shown = state === 'after' ? text.trimStart() : text;
    if (shown !== '') state = 'text';
    return shown;
  };
  return {
    push(delta) {
      if (state === 'text' || state === 'after') return show(delta);
      held += delta;
      if (state === 'start') {
        const begun = held.trimStart();
        if (OPEN.startsWith(begun)) return '';
        if (!begun.startsWith(OPEN)) {
          state = 'text';
          return held;
        }
        state = 'inside';
      }
      const end = held.indexOf(CLOSE);
      if (end === -1) return '';
      state = 'after';
      return show(held.slice(end + CLOSE.length));
    },
    end: () => (state === 'start' ? held : ''),
  };
}
