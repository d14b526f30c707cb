/** Submits a plan to the human as an approval that contains its exact text. */
import type { ApprovalRequest } from '../../domain/task/approval.js';
import { childId } from '../../domain/task/id.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { approvalFor, answerTo } from '../approvals/request.js';
import type { EngineContext } from '../core/context.js';
import type { Conversation } from './conversation.js';
import type { PlanVerdict } from './step.js';

/** The verdict; the approval to wait for; or `edited` if a person changed the conversation. */
export async function submitPlan(
  context: EngineContext,
  task: Task,
  conversation: Conversation,
  plan: { plan: string; number: number },
): Promise<PlanVerdict | { child: WantedChild } | 'edited'> {
  const child = approval(context, task, conversation, plan);
  const placed = await context.tasks.read(child.id);
  // A power cut must not lose the plan but keep the approval.
  if (placed === undefined && (await conversation.append([], true)) === 'edited') return 'edited';
  const verdict = answerTo(placed, child);
  if (verdict.kind === 'open') return { child };
  if (verdict.kind === 'no') return { approved: false, why: verdict.message };
  const edited = verdict.edited?.['plan'];
  return { approved: true, ...(typeof edited === 'string' ? { plan: edited } : {}) };
}

function approval(
  context: EngineContext,
  task: Task,
  { agent }: Conversation,
  { plan, number }: { plan: string; number: number },
): WantedChild {
  const call = { id: `plan-${number}`, name: 'follow_plan', arguments: { plan } };
  const reasons = [`${agent.name} shows its plan before it acts`];
  const wanted = approvalFor(context, task, agent, call, { verdict: 'ask', reasons, risk: 'LOW' });
  const request: ApprovalRequest = {
    ...(wanted.context!['request'] as ApprovalRequest),
    confinement: 'no action yet: each step of the plan is still checked',
  };
  return {
    ...wanted,
    id: childId(task.id, call.id),
    description: `Approve the plan of ${agent.name}`,
    context: { request },
  };
}
