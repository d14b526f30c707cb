/**
 * A request to the human: an approval of one exact action, or a question. It is a task for the
 * human with the request in `context.request`. The ballot and the command line only answer it. The
 * Answer is the task's result.
 */
import { parseMapping } from '../mapping.js';
import { defined } from '../defined.js';
import { isQuestion, type Question } from './question.js';
import { roleFacts } from './role.js';
import type { Task } from './task.js';

/**
 * The content that an answer is bound to besides the action. If any of it has changed when the
 * action would run, the human is asked again.
 */
export interface Bound {
  /** How a command is confined. */
  walls?: Walls;
  /** The only hosts that a command may reach; absent: no network. */
  hosts?: string[];
  content?: BoundContent;
  /** The file that a write replaces, as it was when the diff was made. */
  base?: BoundBase;
}

export type Walls = 'sandbox' | 'none';

export interface BoundContent {
  /** sha256 over names and contents; absent if there was too much to read in time. */
  digest?: string;
  /** For people: what is covered and what is not. */
  text: string;
}

export interface BoundBase {
  /** In the workspace, with all links resolved. */
  path: string;
  /** The sha256 of the whole file; `missing` if there is none. */
  sha256: string;
}

export interface ApprovalRequest extends Bound {
  /** In the program's words. Absent in requests of earlier versions. */
  title?: string;
  tool: string;
  /** The action, exactly as it would run. */
  arguments: Record<string, unknown>;
  /**
   * sha256 of every field but the digest itself, the diff and the fields that only explain the
   * request, so that exactly what was shown runs.
   */
  digest: string;
  agent: string;
  session: string;
  call: string;
  /** Why the policy asks. */
  reasons: string[];
  /** Absent if nothing is certain. */
  risk?: 'LOW' | 'MEDIUM' | 'HIGH';
  /** The outside sources of text in the conversation: `slack/sarah`. */
  taint: string[];
  /** Describes the sandbox of the action, or says that it has none. */
  confinement: string;
  /** The plugin that the tool belongs to. */
  plugin?: string;
  /** The changes to files, if any. */
  diff?: string;
  /** Set if the request asks for words, not for the approval of an action. */
  question?: Question;
  /** The message that a yes admits (`domain/coordination/mail`), as the arguments show it. */
  mail?: unknown;
  /** Asked again: what changed since the human's last answer. */
  changed?: string;
  /** How often this action was asked before, if an earlier answer does not count. */
  asked?: number;
  /** Proves that this machine wrote all of this (`domain/consent/signed`). */
  seal?: string;
}

export interface Answer {
  approved: boolean;
  by: string;
  at: string;
  /** The person and the machine, where several people may answer: `ana@laptop`. */
  desk?: string;
  reason?: string;
  /** The human's own version of the action. */
  edited?: Record<string, unknown>;
  /** The answer to a question. */
  text?: string;
  /** From now on exactly this command runs without asking. */
  always?: true;
  /** For an approval: who gave it (`domain/consent/signed`). */
  signature?: string;
}

/**
 * The fate of a request. `unknown`: the action started, and its outcome is not known; `again`: the
 * request was replaced by another one.
 */
export type Fate = 'done' | 'refused' | 'unknown' | 'again';

/** A request as ballots and lists show it. */
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
  const facts = roleFacts(task.role);
  if (!(facts.isApproval || facts.isQuestion) || !isRequest(request)) return undefined;
  if (facts.isQuestion !== isQuestion(request.question)) return undefined;
  const answer = task.result === undefined ? undefined : readAnswer(task.result);
  return defined<Approval>({
    id: task.id,
    title: request.title ?? task.description,
    created: task.created_at,
    request,
    answer,
  });
}

/** The record may have come from anywhere. */
function isRequest(request: ApprovalRequest | undefined): request is ApprovalRequest {
  if (typeof request !== 'object' || request === null) return false;
  const { tool, arguments: args, digest, agent, session, call, confinement, reasons, taint } = request;
  const { title, diff, changed, seal, risk } = request;
  const isTexts = (list: unknown): boolean => Array.isArray(list) && list.every((one) => typeof one === 'string');
  return (
    [tool, digest, agent, session, call, confinement].every((text) => typeof text === 'string') &&
    typeof args === 'object' &&
    args !== null &&
    !Array.isArray(args) &&
    isTexts(reasons) &&
    isTexts(taint) &&
    [title, diff, changed, seal].every((text) => text === undefined || typeof text === 'string') &&
    (risk === undefined || ['LOW', 'MEDIUM', 'HIGH'].includes(risk))
  );
}

function readAnswer(text: string): Answer | undefined {
  const answer = parseMapping(text);
  return typeof answer?.['approved'] === 'boolean' ? (answer as unknown as Answer) : undefined;
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
    ask_human: 'question',
  };
  return names[tool];
}
