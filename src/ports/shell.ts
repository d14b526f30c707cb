/** Runs commands in the workspace, with limits, sandboxed if the machine supports it. */
import type { PlainPipeline } from '../domain/policy.js';
import type { Walls } from '../domain/task/approval.js';

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
  /** The only hosts that it may reach; absent: no network. */
  hosts?: readonly string[] | undefined;
  /** The files it may write in a sandbox. `workspace` is for commands that a human approved. */
  writes: 'own' | 'workspace';
  /** Refuses to start if the command would be less confined than this. */
  walls?: Walls;
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
  | ({ kind: 'exited'; code: number; output: string; cut: boolean } & ShellTrace)
  | ({
      kind: 'killed';
      by: 'time-out' | 'cancel' | 'output' | 'signal';
      output: string;
      cut: boolean;
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
  /** How approved commands are confined here, for people. */
  confinement(hosts: readonly string[] | undefined): string;
  isSandboxed(): boolean;
  /** Why no command runs here: a sandbox is required and there is none. Undefined if they run. */
  refusal(): string | undefined;
}
