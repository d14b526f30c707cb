/** `guild top`: the whole workspace on one screen, updated as it changes. It only reads. */
import { INTERVALS } from '../../../domain/intervals.js';
import path from 'node:path';
import { eventTail } from '../../../app/readers/aggregates/event-tail.js';
import { openEventIndex } from '../../../app/readers/aggregates/open-index.js';
import { openStates } from '../../../app/readers/open-states.js';
import { EXIT, type Call, type Command } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';
import type { Input } from '../../process/io.js';
import { progressOn } from '../../render/progress.js';
import { addEvents, ledgerOf, topFrame } from './frame.js';

export const command: Command = {
  usage: 'top',
  about: `
Shows agents, open tasks, what waits for you, the cost and the last events on one screen, and updates it. q or Ctrl-C quits.
It only looks: run guild watch in another terminal to do the work.`,
  options: { once: { type: 'boolean', about: 'print one frame as text (default in a pipe)' } },
  maxWords: 0,
  async run(call) {
    const view = openStates(call.root, call.io.env);
    const log = openEventIndex(call.root, progressOn(call.terminal, 'indexing')).look();
    const ledger = ledgerOf(log);
    const tail = eventTail(call.root, log.ends());
    const name = path.basename(call.root);
    const { terminal, json } = call;
    const frame = async (height: number): Promise<string[]> => {
      addEvents(ledger, tail());
      return topFrame(await view.look(), ledger, name, terminal, height);
    };
    if (json) {
      addEvents(ledger, tail());
      const { forHuman, open, takers, ...seen } = await view.look();
      const { latest, ...spent } = ledger;
      terminal.json({
        ...seen,
        open: open.map(({ task, state }) => ({
          id: task.id,
          state,
          to: task.to ?? takers.get(task.id),
          description: task.description,
        })),
        waiting_for_you: forHuman.map(({ task }) => task.id),
        spent: { calls: spent.calls, tokens: spent.tokens, micro_usd: spent.microUsd, unpriced_calls: spent.unpriced },
        latest,
      });
      return EXIT.done;
    }
    if (!terminal.live || call.values['once'] === true) {
      const height = terminal.width === Infinity ? PIPE_ROWS : terminal.height - 1;
      for (const line of await frame(height)) terminal.out(line);
      return EXIT.done;
    }
    await follow(call, view, frame);
    return EXIT.done;
  },
};

/** Rows in a pipe, which has no height. */
const PIPE_ROWS = 60;

async function follow(
  { terminal, io }: Call,
  { store, follow: hear }: ReturnType<typeof openStates>,
  frame: (height: number) => Promise<string[]>,
): Promise<void> {
  const leave = new AbortController();
  let wake = (): void => undefined;
  const ring = (): void => wake();
  const offKeys = keys(io.stdin, () => leave.abort());
  const offInterrupt = onInterrupt(io, () => leave.abort());
  const offNotes = hear(ring);
  const offBell = await store.presence.onRing(ring);
  const redraw = (): void => {
    shown = '';
    ring();
  };
  let shown = '';
  io.stdout.on('resize', redraw);
  leave.signal.addEventListener('abort', ring);
  try {
    while (!leave.signal.aborted) {
      const lines = [...(await frame(terminal.height - 2)), terminal.dim('q quits')];
      const text = lines.join('\n');
      if (text !== shown) terminal.screen(lines);
      shown = text;
      if (!leave.signal.aborted) await pause(INTERVALS.frameMs);
      if (!leave.signal.aborted) await woken(INTERVALS.topCheckMs);
    }
  } finally {
    terminal.screen(undefined);
    io.stdout.off('resize', redraw);
    offKeys();
    offInterrupt();
    offNotes();
    await offBell();
    await store.close();
  }

  function woken(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Calls `leave` on q and Ctrl-C. Returns a function that releases the keyboard. */
function keys(stdin: Input, leave: () => void): () => void {
  if (!stdin.isTTY) return () => undefined;
  const heard = (key: Buffer): void => {
    if (/[qQ\u0003]/.test(key.toString('latin1'))) leave();
  };
  stdin.setRawMode?.(true);
  stdin.on('data', heard);
  stdin.resume();
  return () => {
    stdin.off('data', heard);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}
