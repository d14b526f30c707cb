/** What is told of dependencies and help on the channels `dependency` and `help`. Ids are derived, so telling twice is telling once. */
import { roleFacts } from '../../domain/task/role.js';
import type { Dependency, Resolution } from '../../domain/coordination/dependency.js';
import { type Help } from '../../domain/coordination/help.js';
import { hash53 } from '../../domain/task/id.js';
import { ENGINE, type NoteBody } from '../../domain/coordination/note.js';
import type { Task } from '../../domain/task/task.js';
import { urgencyIn } from '../../domain/coordination/urgency.js';
import { publishNotes, type OutgoingNote } from '../core/notes.js';
import type { EngineContext } from '../core/context.js';

/** Nobody needs them longer: a request that waits for days is in its record. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Characters of a text that are told; the whole is in the record. */
const MOST_TEXT = 4000;

export async function tellNeed(context: EngineContext, task: Task, dependency: Dependency): Promise<void> {
  const { type, urgency, deadline, need, dataType, expertise, resource, after, reviewer } = dependency;
  const given = { dataType, expertise, resource, after, reviewer };
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  await tell(context, [
    telling(task, 'request', {
      type: 'dependency_request',
      requester: task.from ?? 'nobody',
      dependency: task.id,
      dependencyType: type,
      requirements: { need: cut(need), ...named },
      urgency,
      ...(deadline ? { deadline } : {}),
    }),
  ]);
}

export async function tellAward(context: EngineContext, task: Task, provider: string, why: string): Promise<void> {
  const requester = task.from ?? 'nobody';
  const body: NoteBody = { type: 'dependency_award', dependency: task.id, requester, provider, why };
  await tell(context, [telling(task, `award-${provider}`, body)]);
}

export async function tellResolved(context: EngineContext, task: Task, resolution: Resolution): Promise<void> {
  const { data } = resolution;
  await tell(context, [
    telling(task, 'resolution', {
      type: 'dependency_resolution',
      provider: resolution.provider,
      requester: task.from ?? 'nobody',
      dependency: task.id,
      resolution: data === undefined ? resolution : { ...resolution, data: cut(data) },
    }),
  ]);
}

export async function tellHelp(
  context: EngineContext,
  task: Task,
  { context: about, capabilities, estimate }: Help,
): Promise<void> {
  await tell(context, [
    telling(task, 'request', {
      type: 'help_request',
      requester: task.from ?? 'nobody',
      taskContext: cut(about),
      requiredCapabilities: capabilities,
      ...(estimate ? { estimate } : {}),
    }),
  ]);
}

export async function tellVolunteer(context: EngineContext, task: Task, helper: string, why: string): Promise<void> {
  const body: NoteBody = { type: 'help_answer', helper, requester: task.from ?? 'nobody', accepted: true, why };
  await tell(context, [telling(task, `answer-${helper}`, body)]);
}

/** `part`: what of this need is told; it becomes part of the id. */
export function telling(task: Task, part: string, body: NoteBody): OutgoingNote {
  return {
    id: `need-${hash53(task.id)}-${part}`,
    channel: roleFacts(task.role).need ?? 'dependency',
    from: ENGINE,
    priority: urgencyIn((task.context['dependency'] as { urgency?: unknown } | undefined)?.urgency),
    task: task.id,
    ttlMs: KEPT_MS,
    body,
  };
}

/** Nobody waits for it and nothing depends on it: a channel that cannot be written is told to the people who look on. */
export async function tell(context: EngineContext, tellings: readonly OutgoingNote[]): Promise<void> {
  const problem = await publishNotes(context, tellings);
  if (problem) context.watchers.problem(problem);
}

function cut(text: string): string {
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`;
}
