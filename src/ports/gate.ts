/** The gates: what an agent may do by itself, what a human must allow, and what is never done. */
import type { Agent } from '../domain/agent/agent.js';
import type { ApprovalRequest } from '../domain/task/approval.js';
import type { PlainPipeline, Verdict } from '../domain/policy.js';
import type { Problem } from '../domain/problem.js';
import type { PluginAction } from './shell.js';

export interface GateVerdict {
  verdict: Verdict;
  /** For the human who is asked, and for the model that is refused. */
  reasons: string[];
  risk: ApprovalRequest['risk'];
  /** For a command that may run by itself: its words exactly as judged. */
  plan?: PlainPipeline[];
  /** The line is nothing but an action of a plugin. */
  action?: PluginAction;
  /** Where files would change: how. */
  diff?: string;
}

export interface Gate {
  /** The same question has the same answer until a policy file changes. Never throws. */
  judge(agent: Agent, tool: string, args: Record<string, unknown>): GateVerdict;
  /** Remembers that a human allowed this line as it was; how often that was now. */
  noteAllowed(line: string): Promise<number>;
  /** Writes a rule that lets exactly this line run by itself. Only ever called when a human has agreed to that rule. */
  allowAlways(line: string): Promise<void>;
  /** Reads policy files again if they changed; problems that were not reported before. */
  refresh(): Problem[];
}
