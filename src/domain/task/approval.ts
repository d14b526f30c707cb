/**
 * An approval: one exact action that a human allows or refuses. It is a task for the human with the
 * request in `context.request`. The ballot and the command line only answer it. The Answer is the
 * task's result.
 */
import { defined } from '../defined.js';
import { roleFacts } from './role.js';
import type { Task } from './task.js';

export interface ApprovalRequest {
  tool: string;
  /** The action, exactly as it would run. */
  arguments: Record<string, unknown>;
  /** sha256 of tool, arguments and agent, so that exactly the action shown runs. */
  digest: string;
  agent: string;
  session: string;
  call: string;
  /** Why the policy asks. */
  reasons: string[];
  risk: 'LOW' | 'MEDIUM' | 'HIGH';
  /** The outside sources of text in the conversation: `slack/sarah`. */
  taint: string[];
  /** Describes the sandbox of the action, or says that it has none. */
  confinement: string;
  /** The changes to files, if any. */
  diff?: string;
}

export interface Answer {
  approved: boolean;
  by: string;
  at: string;
  reason?: string;
  /** The human's own version of the action. */
  edited?: Record<string, unknown>;
}

/** The end of an approved action. `unknown`: it started, and its outcome is not known. */
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
  return defined<Approval>({ id: task.id, title: task.description, created: task.created_at, request, answer });
}

function readAnswer(text: string): Answer | undefined {
  try {
    const answer = JSON.parse(text) as Answer;
    return typeof answer.approved === 'boolean' ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** The argument that a human reads and may edit: a command, a text. */
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
