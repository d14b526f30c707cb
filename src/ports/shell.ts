/** Runs commands for agents: in the agent's own folder, confined where the machine can, with limits on everything. */
import type { PlainPipeline } from '../domain/policy.js';

/** A script of a plugin and its words: the human's own code, run outside of the sandbox. */
export interface PluginAction {
  file: string;
  args: string[];
}

export interface ShellRun {
  agent: string;
  /** `plan`: run exactly these words, no shell reads them; pipelines and lists as parsed. `script`: a human approved this text, bash runs it. */
  what: { plan: PlainPipeline[] } | { script: string } | { action: PluginAction };
  /** For the history: the task it was run for, and the line as it was asked for. */
  task?: string;
  command?: string;
  timeoutMs: number;
  /** How much output is kept, head and tail; far more than this ends the command. */
  maxOutputBytes: number;
  network: boolean;
  signal?: AbortSignal;
}

/** What the agent's folder looked like afterwards. `commit` is absent, and `note` says why, if it could not be kept. */
export interface ShellTrace {
  commit?: string;
  note?: string;
}

/**
 * `output` is what came from standard output and standard error, in the order it came, as UTF-8 with replacements. It may hold
 * control characters: who shows it escapes them. `cut`: the middle is missing, and a line in its place says how much.
 */
export type ShellOutcome =
  | ({ kind: 'exited'; code: number; output: string; cut: boolean; ms: number } & ShellTrace)
  | ({
      kind: 'killed';
      by: 'time-out' | 'cancel' | 'output' | 'signal';
      output: string;
      cut: boolean;
      ms: number;
    } & ShellTrace)
  | { kind: 'not_started'; reason: string };

export type Rollback = { ok: true; commit: string; files: string[] } | { ok: false; reason: string };

export interface Shell {
  /**
   * Never rejects for what a command does. The whole process group has ended when it resolves. Commands of one agent take turns,
   * so that what each changed is one commit of its folder; time counts from the start of the command.
   */
  run(run: ShellRun): Promise<ShellOutcome>;
  /** Brings the agent's folder back to one of its commits, as a new commit; what was not committed yet is committed first. */
  rollback(agent: string, commit: string): Promise<Rollback>;
  /** How commands are held in on this machine, in words for an approval: `sandboxed (bubblewrap, no network)`, or that they are not. */
  confinement(network: boolean): string;
  isSandboxed(): boolean;
}
