/** Judges actions before they happen: allowed, subject to approval by a human, or denied. */
import type { Agent } from '../domain/agent/agent.js';
import type { ApprovalRequest, BoundBase } from '../domain/task/approval.js';
import type { PlainPipeline, Verdict } from '../domain/policy.js';
import type { Problem } from '../domain/problem.js';
import type { ContentUse } from './consent/bound-content.js';
import type { PluginAction } from './shell.js';

export interface GateVerdict {
  verdict: Verdict;
  /** For the human who is asked, and for the model that is refused. */
  reasons: string[];
  risk: ApprovalRequest['risk'];
  /** For a command that may run without approval: its words exactly as judged. */
  plan?: PlainPipeline[];
  /** Set if the line consists of exactly one plugin action. */
  action?: PluginAction;
  /** If files would change: the diff, and the file that it was made against. */
  diff?: string;
  base?: BoundBase;
  /** It reads a secret, so its result is kept private. */
  secret?: boolean;
  /** For a command that is not denied: the content that it uses. */
  uses?: ContentUse;
}

export interface Gate {
  /** Deterministic until a policy file changes. Never throws. */
  judge(agent: Agent, tool: string, args: Record<string, unknown>): GateVerdict;
  /**
   * Records that a human approved this exact line. Returns how often that has happened, or 0 for a
   * line that must never become a rule, because it uses what agents can write.
   */
  noteAllowed(line: string): Promise<number>;
  /** Lets exactly this line run without approval from now on. Only for rules a human approved. */
  allowAlways(line: string): Promise<void>;
  /** Reads changed policy files again and returns new problems. */
  refresh(): Problem[];
}
