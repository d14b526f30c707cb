/**
 * Publishes dependencies and help requests on the channels `dependency` and `help`. Note ids are
 * derived, so publishing twice has no effect.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Dependency, Resolution } from '../../domain/coordination/dependency.js';
import { type Help } from '../../domain/coordination/help.js';
import { hash53 } from '../../domain/task/id.js';
import { ENGINE, type NoteBody } from '../../domain/coordination/note.js';
import type { Task } from '../../domain/task/task.js';
import { urgencyIn } from '../../domain/coordination/urgency.js';
import { publishNotes, type OutgoingNote } from '../core/notes.js';
import type { EngineContext } from '../core/context.js';

/** Notes expire; the task record keeps a request that waits longer. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Characters of a published text; the record has all of it. */
const MAX_TEXT = 4000;

export async function publishNeed(context: EngineContext, task: Task, dependency: Dependency): Promise<void> {
  const { type, urgency, deadline, need, dataType, expertise, resource, after, reviewer } = dependency;
  const optional = { dataType, expertise, resource, after, reviewer };
  const named = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined));
  await publish(context, [
    needNote(task, 'request', {
      type: 'dependency_request',
      requester: task.from ?? 'nobody',
      dependency: task.id,
      dependencyType: type,
      requirements: { need: cut(need), ...named },
      urgency,
      deadline,
    }),
  ]);
}

export async function publishAward(context: EngineContext, task: Task, provider: string, why: string): Promise<void> {
  const requester = task.from ?? 'nobody';
  const body: NoteBody = { type: 'dependency_award', dependency: task.id, requester, provider, why };
  await publish(context, [needNote(task, `award-${provider}`, body)]);
}

export async function publishResolution(context: EngineContext, task: Task, resolution: Resolution): Promise<void> {
  const { data } = resolution;
  await publish(context, [
    needNote(task, 'resolution', {
      type: 'dependency_resolution',
      provider: resolution.provider,
      requester: task.from ?? 'nobody',
      dependency: task.id,
      resolution: data === undefined ? resolution : { ...resolution, data: cut(data) },
    }),
  ]);
}

export async function publishHelp(
  context: EngineContext,
  task: Task,
  { context: about, capabilities, estimate }: Help,
): Promise<void> {
  await publish(context, [
    needNote(task, 'request', {
      type: 'help_request',
      requester: task.from ?? 'nobody',
      taskContext: cut(about),
      requiredCapabilities: capabilities,
      estimate,
    }),
  ]);
}

export async function publishVolunteer(context: EngineContext, task: Task, helper: string, why: string): Promise<void> {
  const body: NoteBody = { type: 'help_answer', helper, requester: task.from ?? 'nobody', accepted: true, why };
  await publish(context, [needNote(task, `answer-${helper}`, body)]);
}

/** `event` makes the id unique among the notes about this need. */
export function needNote(task: Task, event: string, body: NoteBody): OutgoingNote {
  return {
    id: `need-${hash53(task.id)}-${event}`,
    channel: roleFacts(task.role).need ?? 'dependency',
    from: ENGINE,
    priority: urgencyIn((task.context['dependency'] as { urgency?: unknown } | undefined)?.urgency),
    task: task.id,
    ttlMs: KEPT_MS,
    body,
  };
}

/** No task depends on these notes, so a channel that cannot be written is only reported. */
export async function publish(context: EngineContext, notes: readonly OutgoingNote[]): Promise<void> {
  const problem = await publishNotes(context, notes);
  if (problem) context.watchers.problem(problem);
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
