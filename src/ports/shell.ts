/** Runs commands for agents: in the agent's own folder, confined where the machine can, with limits on everything. */
export interface ShellRun {
  agent: string;
  /** `argv`: run exactly these words, no shell; pipelines and lists as parsed. `script`: a human approved this text, bash runs it. */
  what: { argv: string[][]; join: ('|' | '&&' | '||' | ';')[] } | { script: string };
  timeoutMs: number;
  maxOutputBytes: number;
  network: boolean;
  signal?: AbortSignal;
}

export type ShellOutcome =
  | { kind: 'exited'; code: number; output: string; cut: boolean; ms: number }
  | { kind: 'killed'; by: 'time-out' | 'cancel' | 'output' | 'signal'; output: string; cut: boolean; ms: number }
  | { kind: 'not_started'; reason: string };

export interface Shell {
  /** Never rejects for what a command does. The whole process group has ended when it resolves. */
  run(run: ShellRun): Promise<ShellOutcome>;
  /** How commands are held in on this machine, in words for an approval: `sandboxed (bubblewrap, no network)`, or that they are not. */
  confinement(network: boolean): string;
  isSandboxed(): boolean;
}
