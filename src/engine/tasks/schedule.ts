/**
 * Advances a schedule: decides what becomes of its due times, creates the run of the last one, and
 * waits for the next. The claim on the schedule makes one process decide; if it dies, the next one
 * finds the run by its id. A machine that decides late still creates no second run.
 */
import { defined } from '../../domain/defined.js';
import { problem } from '../../domain/problem.js';
import { ruleText, type Schedule } from '../../domain/schedule.js';
import { runId } from '../../domain/task/id.js';
import { isEnded, makeTask, type Task } from '../../domain/task/task.js';
import type { Rule } from '../../ports/reading/schedules.js';
import type { Claim } from '../../ports/store/tasks.js';
import { MAX_COUNTED, scheduleStep, type DueTimes, type Missed } from '../../rules/scheduling/schedule.js';
import { record, type EngineContext } from '../core/context.js';
import { fail } from './settle.js';

export async function advanceSchedule(context: EngineContext, claim: Claim): Promise<void> {
  const { task } = claim;
  const schedule = task.schedule!;
  const now = context.clock.now();
  const zone = schedule.timezone ?? context.config.timezone ?? context.surroundings.timeZone;
  const rule: Rule = { cron: schedule.cron, timezone: zone };
  const next = await context.schedules.next(rule, now);
  if (next === undefined) {
    const error = problem('bad_field', `the schedule "${rule.cron}" has no due time`, {
      hint: 'correct it, then retry',
    });
    return fail(context, claim, task, error);
  }
  // A new or changed schedule starts now, so no earlier due time counts as missed.
  const isNew = schedule.last === undefined || schedule.planned !== ruleText(schedule);
  const due = isNew ? undefined : await dueTimes(context, rule, new Date(schedule.last!), now);
  const decided = due === undefined ? {} : await decide(context, task, schedule, due);
  const after: Schedule = {
    ...schedule,
    last: schedule.last ?? now.toISOString(),
    ...decided,
    timezone: rule.timezone,
  };
  if (isNew) after.last = now.toISOString();
  const waits = { until: next.toISOString() };
  // No event is recorded: nothing happened yet.
  await context.tasks.park(claim, { ...task, attempts: 0, schedule: { ...after, planned: ruleText(after) }, waits });
}

async function dueTimes(context: EngineContext, rule: Rule, after: Date, now: Date): Promise<DueTimes | undefined> {
  const { schedules } = context;
  const first = await schedules.next(rule, after);
  if (first === undefined || first > now) return undefined;
  const latest = (await schedules.latest(rule, now)) ?? first;
  let count = 1;
  for (let at = first; at < latest && count < MAX_COUNTED; count++) at = (await schedules.next(rule, at)) ?? latest;
  return { first: first.toISOString(), latest: latest.toISOString(), count };
}

/** Decides the next change of the schedule. */
async function decide(
  context: EngineContext,
  task: Task,
  schedule: Schedule,
  due: DueTimes,
): Promise<Partial<Schedule>> {
  const { tasks, clock } = context;
  const run = runId(task.id, due.latest);
  const before = schedule.run === undefined || schedule.run === run ? undefined : await tasks.read(schedule.run);
  const step = scheduleStep(schedule, {
    now: clock.now().toISOString(),
    due,
    exists: (await tasks.read(run)) !== undefined,
    isRunning: before !== undefined && !isEnded(before.state),
  });
  if (step.fires && (await tasks.create(runOf(task, run, due.latest, clock.now()))))
    record(context, 'task.created', { task: run, agent: task.to, cause: task.id });
  const note = step.missed === undefined ? undefined : report(context, task, step.missed, due, step.fires);
  return defined({ last: due.latest, run: step.fires ? run : undefined, note });
}

function report(
  context: EngineContext,
  { id }: Task,
  { count, why, isSkipped }: Missed,
  { first, latest }: DueTimes,
  fires: boolean,
): string {
  const many =
    count >= MAX_COUNTED - 1 ? `${count} runs or more were` : count === 1 ? '1 run was' : `${count} runs were`;
  const times = first === latest ? `at ${first}` : `from ${first} ${fires ? 'until' : 'to'} ${latest}`;
  const message = `${many} missed ${times}: ${why}`;
  record(context, 'schedule.missed', { task: id, count, first, latest, why });
  context.watchers.problem(
    problem('timed_out', `schedule ${id}: ${message}`, {
      hint: `${isSkipped ? 'make it due less often' : 'keep guild watch running'}; with "missed: once" the last missed run takes place late`,
    }),
  );
  return message;
}

/** A run has all fields of its schedule's task except the schedule. */
function runOf(task: Task, id: string, at: string, now: Date): Task {
  const { to, from, type, requirements, attachments, context, priority, budget, description, created_by: by } = task;
  return makeTask(
    defined({
      id,
      description,
      requirements,
      priority,
      created_at: now.toISOString(),
      to,
      from,
      type,
      attachments,
      budget,
      created_by: by,
      context: { ...context, scheduled: { by: task.id, at } },
    }),
  );
}
