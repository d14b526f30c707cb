/** A terminal that sends some of its output elsewhere. */
import type { Terminal } from './terminal.js';

export function redirected(terminal: Terminal, changed: Partial<Pick<Terminal, 'out' | 'say' | 'dock'>>): Terminal {
  return {
    ...terminal,
    ...changed,
    // These values change with the window.
    get width() {
      return terminal.width;
    },
    get height() {
      return terminal.height;
    },
  };
}
