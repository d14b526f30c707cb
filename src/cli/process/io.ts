/** Everything the command line takes from its process. Tests pass their own. */
import type { Writable } from 'node:stream';
import type { Env } from '../../domain/config/env.js';

export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Env;
  /** Relative paths on the command line start here. */
  cwd: string;
  /**
   * Calls back on each SIGINT and SIGTERM, and when the process that started this one as its worker
   * is gone. Returns a function that unsubscribes.
   */
  onInterrupt(listener: () => void): () => void;
  /** Ends the process at once. */
  exit(code: number): void;
}

export type Input = NodeJS.ReadableStream & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number; rows?: number };

const ENDS = ['SIGINT', 'SIGTERM', 'disconnect'];

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    onInterrupt(listener) {
      for (const name of ENDS) process.on(name, listener);
      return () => {
        for (const name of ENDS) process.off(name, listener);
      };
    },
    exit: (code) => process.exit(code),
  };
}

/** Waits for a program that reads slowly, so that text does not pile up here. */
export async function drained(stdout: Output): Promise<void> {
  const stream = stdout as Partial<Writable>;
  if (stream.writableNeedDrain) await new Promise((resolve) => void stream.once!('drain', resolve));
}
