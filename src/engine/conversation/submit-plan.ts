/** Submits a plan to the human as an approval that contains its exact text. */
import { defined } from '../../domain/defined.js';
import { childId } from '../../domain/task/id.js';
import type { Task, WantedChild } from '../../domain/task/task.js';
import { approvalFor, consult } from '../approvals/request.js';
import type { EngineContext } from '../core/context.js';
import type { Conversation } from './conversation.js';
import type { PlanVerdict } from './decide/step.js';

/** The verdict; the approval to wait for; or `edited` if a person changed the conversation. */
export async function submitPlan(
  context: EngineContext,
  task: Task,
  conversation: Conversation,
  plan: { plan: string; number: number },
): Promise<PlanVerdict | { child: WantedChild } | 'edited'> {
  const { child, placed, answer: verdict } = await consult(context, approval(context, task, conversation, plan));
  // A power cut must not lose the plan but keep the approval.
  if (placed === undefined && (await conversation.append([], true)) === 'edited') return 'edited';
  if (verdict.kind === 'open') return { child };
  if (verdict.kind === 'no') return { approved: false, why: verdict.message };
  const edited = verdict.edited?.['plan'];
  return defined<PlanVerdict>({ approved: true, plan: typeof edited === 'string' ? edited : undefined });
}

function approval(
  context: EngineContext,
  task: Task,
  { agent }: Conversation,
  { plan, number }: { plan: string; number: number },
): WantedChild {
  const call = { id: `plan-${number}`, name: 'follow_plan', arguments: { plan } };
  const reasons = [`${agent.name} shows its plan before it acts`];
  return approvalFor(
    context,
    task,
    agent,
    call,
    { verdict: 'ask', reasons, risk: 'LOW' },
    {
      id: childId(task.id, call.id),
      title: `Approve the plan of ${agent.name}`,
      confinement: 'no action yet: each step of the plan is still checked',
    },
  );
}
