/**
 * `approval_required: true` on a task: a person allows it before it begins, before any agent bids
 * for it or works on it. The approval is bound to the text of the task: if that changes, the person
 * is asked again.
 */
import { APPROVAL_ROLE, type ApprovalRequest } from '../../domain/task/approval.js';
import { childId } from '../../domain/task/id.js';
import { roleFacts } from '../../domain/task/role.js';
import { taintIn } from '../../domain/task/taint.js';
import { HUMAN, type Task, type WantedChild } from '../../domain/task/task.js';
import type { EngineContext } from '../core/context.js';
import { consult, withDigest } from './request.js';

const BEGIN_TOOL = 'begin_task';

/** The approval to wait for, or why the task must not begin. */
type StartPermit = 'granted' | { ask: WantedChild } | { refused: string };

/** Call it only for a task that needs a permit. */
export async function startPermit(context: EngineContext, task: Task): Promise<StartPermit> {
  // A retry after a refusal asks again; a permission from before the retry stays valid.
  let refused: string | undefined;
  for (let attempt = 0; attempt <= (task.retries ?? 0); attempt++) {
    const { child, answer } = await consult(context, permitFor(task, attempt));
    if (answer.kind === 'open') return { ask: child };
    if (answer.kind === 'yes' && answer.edited === undefined) return 'granted';
    refused = answer.kind === 'no' ? answer.message : 'the request was edited; edit the task itself, then retry it';
  }
  return { refused: refused! };
}

/** Every value except a plain no requires approval. Stages of patterns follow their task. */
export function needsPermit({ role, context, extra }: Task): boolean {
  const wish = context['approval_required'] ?? extra?.['approval_required'];
  if (wish === undefined || wish === null || roleFacts(role).isStage) return false;
  return !['false', 'no', '0', ''].includes(String(wish).trim().toLowerCase());
}

function permitFor(task: Task, attempt: number): WantedChild {
  const part = `begin${attempt === 0 ? '' : `-${attempt}`}`;
  const title = `Approve the start of: ${task.description.split('\n')[0]!.slice(0, 200)}`;
  const request: ApprovalRequest = withDigest({
    title,
    tool: BEGIN_TOOL,
    arguments: { task: task.description },
    // Without the agent, which may be chosen only after the yes.
    agent: '',
    session: '',
    call: part,
    reasons: [`the task says approval_required${task.to === undefined ? '' : `; ${task.to} would do it`}`],
    risk: 'LOW',
    taint: taintIn(task),
    confinement: 'no action yet: each action of the task is still checked',
  });
  return {
    id: childId(task.id, part),
    role: APPROVAL_ROLE,
    to: HUMAN,
    description: title,
    context: { request },
  };
}
