/**
 * What a human is asked to allow: one exact action. The request lives in a task for the human, `context.request`; a ballot
 * or a command line only answers it. Answering is the task's end: its result is the Answer.
 */
import { roleFacts } from './role.js';
import type { Task } from './task.js';

export interface ApprovalRequest {
  tool: string;
  /** The action itself, exactly as it would be carried out. */
  arguments: Record<string, unknown>;
  /** sha256 over tool, arguments and agent: what was shown is what runs. */
  digest: string;
  agent: string;
  session: string;
  call: string;
  /** Why policy asks. */
  reasons: string[];
  risk: 'LOW' | 'MEDIUM' | 'HIGH';
  /** Where text in the conversation came from that the human did not write: `slack/sarah`. */
  taint: string[];
  /** What would hold the action in: a sandbox by name, or that there is none. */
  confinement: string;
  /** Where files would change: what would change. */
  diff?: string;
}

export interface Answer {
  approved: boolean;
  by: string;
  at: string;
  reason?: string;
  /** The human's own action instead of the one asked for. */
  edited?: Record<string, unknown>;
}

/** What became of an action. `unknown`: it was started, and nobody knows whether it ended. */
export type Fate = 'done' | 'refused' | 'unknown';

/** An approval as ballots and lists show it. */
export interface Approval {
  id: string;
  title: string;
  created: string;
  request: ApprovalRequest;
  answer?: Answer;
}

export const APPROVAL_ROLE = 'approval';

export function approvalOf(task: Task): Approval | undefined {
  const request = task.context['request'] as ApprovalRequest | undefined;
  if (!roleFacts(task.role).isApproval || request === undefined || typeof request.digest !== 'string') return undefined;
  const answer = task.result === undefined ? undefined : readAnswer(task.result);
  return { id: task.id, title: task.description, created: task.created_at, request, ...(answer ? { answer } : {}) };
}

function readAnswer(text: string): Answer | undefined {
  try {
    const answer = JSON.parse(text) as Answer;
    return typeof answer.approved === 'boolean' ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The one argument of an action that a human reads and may edit: a command, a text. */
export function mainArgument(tool: string): string | undefined {
  const names: Record<string, string> = {
    execute_command: 'command',
    allow_command: 'command',
    write_file: 'content',
    edit_session: 'content',
    create_agent: 'content',
    slack_send: 'text',
    admit_message: 'text',
    follow_plan: 'plan',
    approve_need: 'need',
    give_help: 'answer',
  };
  return names[tool];
}
