/**
 * Shows how far a long piece of work is, on one line of standard error that goes away at the end.
 * Nothing if the output is not a terminal, or the work is short.
 */
import type { Terminal } from './terminal.js';

const SHOWN_AFTER_MS = 300;
const REDRAWN_EVERY_MS = 100;

export function progressOn(terminal: Terminal, what: string): (done: number, total: number) => void {
  let startedMs: number | undefined;
  let drawnMs = 0;
  let lines = 0;
  return (done, total) => {
    const nowMs = performance.now();
    if (done >= total) {
      if (lines > 0) terminal.dock([]);
      lines = 0;
      startedMs = undefined;
      return;
    }
    startedMs ??= nowMs;
    if (!terminal.live || nowMs - startedMs < SHOWN_AFTER_MS || nowMs - drawnMs < REDRAWN_EVERY_MS) return;
    terminal.dock([terminal.dim(`${what}: ${Math.floor((100 * done) / total)} %`)]);
    lines = 1;
    drawnMs = nowMs;
  };
}
