/**
 * Schedules in guild.yaml become tasks with a schedule, as dropped files are. The task is the
 * authority: a schedule that a person cancelled stays cancelled until its lines change.
 */
import { defined } from '../../domain/defined.js';
import { problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { HUMAN, isEnded, makeTask, type Task } from '../../domain/task/task.js';
import type { ScheduleWish } from '../../ports/reading/schedules.js';
import type { Claim } from '../../ports/store/tasks.js';
import { record, type EngineContext } from '../core/context.js';
import { underWay } from '../core/ready-queue.js';
import { fail } from '../tasks/settle.js';

const FILE = 'guild.yaml';

/** True if anything changed. */
export async function takeSchedules(context: EngineContext): Promise<boolean> {
  const wanted = context.schedules.configured();
  if (wanted === undefined) return false;
  let moved = false;
  for (const wish of wanted) moved = (await take(context, wish)) || moved;
  const ids = new Set(wanted.map(({ task }) => task.id));
  for (const { task } of [...underWay(context)]) {
    if (!roleFacts(task.role).isSchedule || saidBy(task) === undefined || ids.has(task.id)) continue;
    moved = (await remove(context, task.id)) || moved;
  }
  return moved;
}

async function take(context: EngineContext, wish: ScheduleWish): Promise<boolean> {
  const placed = await context.tasks.read(wish.task.id);
  const task = taskOf(context, wish);
  if (placed === undefined) {
    if (!(await context.tasks.create(task))) return false;
    record(context, 'task.created', { task: task.id, agent: task.to, cause: FILE });
    return true;
  }
  // A task from elsewhere that happens to have this name is left alone.
  if (saidBy(placed.task) === undefined) return false;
  if (saidBy(placed.task) === wish.said) return false;
  if (isEnded(placed.state)) return context.tasks.reopen(task.id, task);
  const claim = await claimed(context, task.id);
  if (claim === undefined) return false;
  const { last, run } = claim.task.schedule ?? {};
  const schedule = { ...task.schedule!, ...defined({ last, run }) };
  if (await context.tasks.release(claim, { ...task, created_at: claim.task.created_at, schedule }))
    record(context, 'task.changed', { task: task.id, cause: FILE });
  return true;
}

/** Forgets the settings of the schedule, so that adding the same settings again reopens it. */
async function remove(context: EngineContext, id: string): Promise<boolean> {
  const claim = await claimed(context, id);
  if (claim === undefined) return false;
  const removed = problem('cancelled', `it was removed from ${FILE}`, { hint: 'add it again to continue it' });
  const extra = { ...claim.task.extra, configured: { said: '' } };
  await fail(context, claim, { ...claim.task, extra }, removed);
  return true;
}

/** A process that plans the next run may hold it for a moment: the next look tries again. */
async function claimed(context: EngineContext, id: string): Promise<Claim | undefined> {
  const claim = await context.tasks.claim(id, 'nobody');
  if (claim === undefined) context.schedules.readAgain();
  return claim;
}

function taskOf(context: EngineContext, { said, task }: ScheduleWish): Task {
  const at = context.clock.now().toISOString();
  return makeTask({ ...task, from: HUMAN, created_by: HUMAN, created_at: at, extra: { configured: { said } } });
}

function saidBy({ extra }: Task): string | undefined {
  const said = (extra?.['configured'] as { said?: unknown } | undefined)?.said;
  return typeof said === 'string' ? said : undefined;
}
