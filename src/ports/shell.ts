/** Runs commands in an agent's own folder, with limits, sandboxed if the machine supports it. */
import type { PlainPipeline } from '../domain/policy.js';

/** A plugin script and its arguments. It is the human's own code and runs outside the sandbox. */
export interface PluginAction {
  file: string;
  args: string[];
}

export interface ShellRun {
  agent: string;
  /** `plan`: parsed pipelines, run without a shell. `script`: approved text, run by bash. */
  what: { plan: PlainPipeline[] } | { script: string } | { action: PluginAction };
  /** For the history: the task and the requested command line. */
  task?: string;
  command?: string;
  timeoutMs: number;
  /** How much output is kept, head and tail; far more output ends the command. */
  maxOutputBytes: number;
  network: boolean;
  signal?: AbortSignal;
}

/** The commit of the agent's folder after the command. If there is none, `note` says why. */
export interface ShellTrace {
  commit?: string;
  note?: string;
}

/**
 * `output` is standard output and standard error, in order of arrival, as UTF-8 with replacements.
 * It may contain control characters, which must be escaped for display. `cut`: the middle is
 * missing, and a line in its place says how much.
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
   * Never rejects because of the command. The whole process group has ended when it resolves.
   * Commands of one agent run one at a time, so that each one's changes are one commit of its
   * folder. Time counts from the start of the command.
   */
  run(run: ShellRun): Promise<ShellOutcome>;
  /** Restores the agent's folder to a commit, as a new commit. Commits the current state first. */
  rollback(agent: string, commit: string): Promise<Rollback>;
  /** How commands are confined here, for approvals: `sandboxed (bubblewrap, no network)`. */
  confinement(network: boolean): string;
  isSandboxed(): boolean;
}
