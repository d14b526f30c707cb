/** Shows approvals on the ballot: open requests, and the outcomes of answered ones. */
import { compareText } from '../../domain/order.js';
import { approvalOf, type Approval } from '../../domain/task/approval.js';
import { isEnded } from '../../domain/task/task.js';
import type { Fate } from '../../domain/task/approval.js';
import { effectIdOf, isAnswered, isAskedAgain, isOwn, soundApproval } from './request.js';
import type { EngineContext } from '../core/context.js';
import { underWay } from '../core/ready-queue.js';

export function openApprovals(context: EngineContext): Approval[] {
  const approvals: Approval[] = [];
  for (const { task } of underWay(context)) {
    const approval = soundApproval(task);
    if (approval && isOwn(context.consent, approval)) approvals.push(approval);
  }
  return approvals.sort((a, b) => compareText(a.created, b.created) || compareText(a.id, b.id));
}

/**
 * Shows what waits for the human, and the fate of answered actions. `isFullPass`: this pass scanned
 * files; otherwise the ballot file is not compared.
 */
export async function showBallot(context: EngineContext, isFullPass: boolean): Promise<void> {
  const { ballot } = context;
  const open = openApprovals(context);
  if (!isFullPass && open.length === 0 && ballot.unsettled().length === 0) return;
  const ended: Approval[] = [];
  const fates = new Map<string, Fate>();
  for (const id of ballot.unsettled()) {
    const placed = context.tasks.isOpen(id) ? undefined : await context.tasks.read(id);
    const approval = placed && isEnded(placed.state) ? approvalOf(placed.task) : undefined;
    if (approval === undefined) continue;
    ended.push(approval);
    const fate = await fateOf(context, approval, placed!.task.parent);
    if (fate !== undefined) fates.set(id, fate);
  }
  for (const problem of await ballot.show(open, ended, fates)) context.watchers.problem(problem);
}

/** Undefined while the action is running. */
async function fateOf(context: EngineContext, approval: Approval, asker = ''): Promise<Fate | undefined> {
  const { answer, request } = approval;
  const id = effectIdOf(approval);
  if (answer === undefined) return 'again';
  if (!answer.approved) return 'refused';
  if (!isAnswered(context.consent, approval)) return 'again';
  let effect = await context.effects.get(id);
  if (effect.state === 'started') {
    // Another process may be executing it. Once the asker is released, the outcome is final.
    const placed = await context.tasks.read(asker);
    if (placed === undefined ? context.tasks.isOpen(asker) : placed.state === 'active') return undefined;
    effect = await context.effects.get(id);
  }
  if (effect.state === 'none' && (await isAskedAgain(context, approval))) return 'again';
  if (effect.state === 'none') return context.tools.get(request.tool)?.kind === 'effect' ? undefined : 'done';
  if (effect.state === 'started') return 'unknown';
  const { outcome } = effect;
  return !outcome.ok && outcome.code === 'not_allowed' ? 'refused' : 'done';
}
