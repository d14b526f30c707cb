/**
 * A running command: its output and its processes. A time-out, a cancellation and too much output
 * all stop it in the same way: no new process starts, and all of its processes are killed.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { endProcessTree, isGroupAlive, type ProcessTree } from './process-tree.js';
import { output, type Output } from './output.js';
import type { Pipe } from './pipes.js';

type StopReason = 'time-out' | 'cancel' | 'output';
export type Stdio = number | 'ignore';

export interface Ended {
  /** 128 + n for signal n, as in a shell. */
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
  /** The seccomp filter, as descriptor 3 of each process. */
  openFilter(): number | undefined;
}

/** How long to wait for output after everything has ended. */
const LAST_OUTPUT_MS = 100;

export class RunningCommand {
  stopped: StopReason | undefined;
  private readonly output: Output;
  private readonly tree: ProcessTree;
  private readonly live = new Set<Promise<Ended>>();
  private readonly timer: NodeJS.Timeout;
  private readonly onAbort = (): void => this.stop('cancel');
  private ending: Promise<void> = Promise.resolve();

  constructor(private readonly options: RunningOptions) {
    const { pipe, maxOutputBytes, runawayBytes, timeoutMs, signal, wrapper } = options;
    this.output = output(pipe.read, maxOutputBytes, runawayBytes, () => this.stop('output'));
    this.tree = { groups: [], output: pipe.name, wrapper };
    this.timer = setTimeout(() => this.stop('time-out'), timeoutMs);
    signal?.addEventListener('abort', this.onAbort, { once: true });
    if (signal?.aborted) this.stop('cancel');
  }

  /**
   * Starts a process in its own group. Throws if the system rejects the arguments, such as too long
   * ones.
   */
  start(argv: readonly string[], stdio: [Stdio, Stdio, Stdio]): Promise<Ended> {
    const { cwd, env } = this.options;
    const filter = this.options.openFilter();
    const all = filter === undefined ? stdio : [...stdio, filter];
    const options = { cwd, env, stdio: all, detached: true, shell: false, windowsHide: true };
    let child;
    try {
      child = spawn(argv[0]!, argv.slice(1), options);
    } finally {
      if (filter !== undefined) fs.closeSync(filter);
    }
    if (child.pid !== undefined) this.tree.groups.push(child.pid);
    const ended = new Promise<Ended>((resolve) => {
      child.once('error', () => resolve({ code: 126 }));
      child.once('exit', (code, signal) =>
        resolve(signal ? { code: 128 + (os.constants.signals[signal] ?? 0), signal } : { code: code ?? 1 }),
      );
    });
    this.live.add(ended);
    void ended.then(() => {
      this.live.delete(ended);
      this.forget(child.pid);
    });
    return ended;
  }

  /** Resolves when all its processes have ended. */
  async finish(): Promise<{ output: string; cut: boolean }> {
    await Promise.all(this.live);
    fs.closeSync(this.options.pipe.write);
    await this.ending;
    const isQuiet = await within(LAST_OUTPUT_MS, this.output.ended);
    if (!isQuiet || this.tree.groups.some(isGroupAlive)) {
      await endProcessTree(this.tree);
      await within(LAST_OUTPUT_MS, this.output.ended);
    }
    clearTimeout(this.timer);
    this.options.signal?.removeEventListener('abort', this.onAbort);
    this.output.close();
    return this.output.text();
  }

  private stop(reason: StopReason): void {
    if (this.stopped !== undefined) return;
    this.stopped = reason;
    this.ending = endProcessTree(this.tree);
  }

  /** The number of an empty group may be reused by another process, so do not keep it. */
  private forget(group: number | undefined): void {
    if (group === undefined || isGroupAlive(group)) return;
    this.tree.groups.splice(this.tree.groups.indexOf(group), 1);
  }
}

async function within(ms: number, promise: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const isDone = await Promise.race([promise.then(() => true), timeout]);
  clearTimeout(timer);
  return isDone;
}
