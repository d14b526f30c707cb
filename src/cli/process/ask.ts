/** Asks a person at the terminal. */
import type { Io } from './io.js';

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

/** Only `y` and `yes` mean yes. */
export async function isYes(io: Io, prompt: string): Promise<boolean> {
  return /^\s*y(?:es)?\s*$/i.test(await askLine(io, prompt));
}
