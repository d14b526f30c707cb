/** Asks a person at the terminal. */
import type { Input, Io } from './io.js';

/** True if a person can be asked and can see the question. */
export function hasPerson({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** The line that the person types. Empty at the end of the input. */
export async function askLine({ stdin, stderr }: Io, prompt: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: stdin, output: stderr });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    return await Promise.race([lines.question(prompt), ended]);
  } finally {
    lines.close();
  }
}

/** Only `y` and `yes` mean yes. Text that was typed before the question appeared is dropped. */
export async function isYes(io: Io, prompt: string): Promise<boolean> {
  if ((await typedBefore(io.stdin)).includes(INTERRUPT)) return false;
  return /^\s*y(?:es)?\s*$/i.test(await askLine(io, prompt));
}

const INTERRUPT = '\u0003';
/** The terminal delivers its pending input within this time. */
const HELD_MS = 50;

/** Reads the pending input of a terminal; empty for any other input. */
async function typedBefore(stdin: Input): Promise<string> {
  let typed = '';
  if (stdin.setRawMode === undefined) return typed;
  const take = (part: Buffer | string): void => void (typed += String(part));
  // Without raw mode the terminal holds back an incomplete line.
  stdin.setRawMode(true);
  stdin.on('data', take);
  await new Promise((resolve) => setTimeout(resolve, HELD_MS));
  stdin.off('data', take);
  stdin.pause();
  stdin.setRawMode(false);
  return typed;
}
