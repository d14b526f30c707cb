/**
 * One command while it runs: its output, the processes started for it, and how it is ended. Time-out, cancel and too much
 * output all do the same thing: nothing more is started, and everything that was is ended.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { endFamily, groupLives, type Family } from './family.js';
import { output, type Output } from './output.js';
import type { Pipe } from './pipes.js';

type StopReason = 'time-out' | 'cancel' | 'output';
export type Stdio = number | 'ignore';

export interface Ended {
  /** 128 + n for signal n, as a shell counts. */
  code: number;
  signal?: NodeJS.Signals;
}

interface RunningOptions {
  pipe: Pipe;
  cwd: string;
  env: Record<string, string>;
  timeoutMs: number;
  maxOutputBytes: number;
  runawayBytes: number;
  signal?: AbortSignal;
  wrapper?: string;
}

/** Output that comes after everything has ended is not waited for. */
const LAST_WORDS_MS = 100;

export class Running {
  stopped: StopReason | undefined;
  private readonly output: Output;
  private readonly family: Family;
  private readonly live = new Set<Promise<Ended>>();
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.stop('cancel');
  private ending: Promise<void> = Promise.resolve();

  constructor(private readonly options: RunningOptions) {
    const { pipe, maxOutputBytes, runawayBytes, timeoutMs, signal, wrapper } = options;
    this.output = output(pipe.read, maxOutputBytes, runawayBytes, () => this.stop('output'));
    this.family = { groups: [], output: pipe.name, ...(wrapper ? { wrapper } : {}) };
    this.timer = setTimeout(() => this.stop('time-out'), timeoutMs);
    signal?.addEventListener('abort', this.onAbort, { once: true });
    if (signal?.aborted) this.stop('cancel');
  }

  /** Starts these words in a group of their own. Throws if the system takes no such words, for instance because they are too long. */
  start(argv: readonly string[], stdio: [Stdio, Stdio, Stdio]): Promise<Ended> {
    const { cwd, env } = this.options;
    const child = spawn(argv[0]!, argv.slice(1), { cwd, env, stdio, detached: true, shell: false, windowsHide: true });
    if (child.pid !== undefined) this.family.groups.push(child.pid);
    const ended = new Promise<Ended>((resolve) => {
      child.once('error', () => resolve({ code: 126 }));
      child.once('exit', (code, signal) =>
        resolve(signal ? { code: signalCode(signal), signal } : { code: code ?? 1 }),
      );
    });
    this.live.add(ended);
    void ended.then(() => {
      this.live.delete(ended);
      this.forget(child.pid);
    });
    return ended;
  }

  /** Resolves when nothing of it runs any more. */
  async finish(): Promise<{ output: string; cut: boolean }> {
    await Promise.all(this.live);
    fs.closeSync(this.options.pipe.write);
    await this.ending;
    const isQuiet = await within(LAST_WORDS_MS, this.output.ended);
    if (!isQuiet || this.family.groups.some(groupLives)) {
      await endFamily(this.family);
      await within(LAST_WORDS_MS, this.output.ended);
    }
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.output.close();
    return this.output.text();
  }

  private stop(reason: StopReason): void {
    if (this.stopped !== undefined) return;
    this.stopped = reason;
    this.ending = endFamily(this.family);
  }

  /** A group without a process is nobody's: its number may come back for somebody else. */
  private forget(group: number | undefined): void {
    if (group === undefined || groupLives(group)) return;
    this.family.groups.splice(this.family.groups.indexOf(group), 1);
  }
}

function signalCode(signal: NodeJS.Signals): number {
  return 128 + (os.constants.signals[signal] ?? 0);
}

async function within(ms: number, promise: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return isDone;
}
