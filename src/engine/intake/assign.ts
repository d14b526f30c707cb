/** Carries out a request to give a task that has not started to another agent. */
import type { Intent } from '../../domain/task/intent.js';
import { withTaint } from '../../domain/task/taint.js';
import { assignProblem } from '../../rules/scheduling/assign.js';
import { record, type EngineContext } from '../core/context.js';

export async function assign(context: EngineContext, intent: Intent & { kind: 'assign' }): Promise<boolean> {
  const { id, task, to, by, taint = [] } = intent;
  const names = [...context.agents.all().keys()];
  const before = await context.tasks.read(task);
  if (before?.task.to === to) return done(); // the process that moved it died before its report
  const wrong = assignProblem(task, before, to, names);
  if (wrong !== undefined) return done(wrong.message);
  const claim = await context.tasks.claim(task, before!.task.to ?? 'nobody');
  if (claim === undefined) return false; // another process has it; the next look shows the outcome
  const late = assignProblem(task, { task: claim.task, state: claim.from }, to, names);
  const isMoved = await context.tasks.release(
    claim,
    late === undefined ? withTaint({ ...claim.task, to }, taint) : claim.task,
  );
  if (late !== undefined) return done(late.message);
  if (!isMoved) return false;
  record(context, 'task.reassigned', { task, agent: to, from: claim.task.to, by, cause: id });
  await done();
  return true;

  async function done(why?: string): Promise<false> {
    await context.intents.done(id);
    record(context, why === undefined ? 'intent.taken' : 'intent.refused', { task, cause: id, kind: 'assign', why });
    return false;
  }
}
