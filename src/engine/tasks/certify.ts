/**
 * Certifies that a root is complete: nothing below it is open, unread or half done, and the other
 * processes agree. Otherwise the root is parked and checked again. With one process the check only
 * reads memory.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Certificate } from '../../domain/task/certificate.js';
import type { Task, Waits } from '../../domain/task/task.js';
import { channelsRead } from '../../rules/coordination/channels.js';
import { isLeaf } from '../../rules/patterns/decide.js';
import { effectsUnderWay } from '../core/effects.js';
import type { EngineContext, Ports } from '../core/context.js';

/**
 * `subtasks`: tasks that people added below the root while it ran; the root now depends on them.
 */
type Certified = { certificate: Certificate } | { waits: Waits; subtasks: string[] };

export async function certify(context: EngineContext, task: Task): Promise<Certified> {
  const open = openUnder(context, task);
  if (open.length > 0) {
    const added = open
      .filter((child) => child.parent === task.id && roleFacts(child.role).isAddedByPeople)
      .map((child) => child.id);
    const subtasks = added.filter((id) => !task.dependencies.includes(id));
    return { waits: { tasks: open.map(({ id }) => id) }, subtasks };
  }
  const unread = unreadNotes(context, task);
  const effects = effectsUnderWay(context, task.id);
  if (unread + effects > 0) return { waits: { until: context.clock.now().toISOString() }, subtasks: [] };
  const vote = await context.votes.agree(task);
  if ('agreed' in vote) return { certificate: { open: 0, unread, effects, ...vote } };
  // Another process knows of unfinished work, or this one is stopping: the next pass asks again.
  return { waits: { until: vote.until }, subtasks: [] };
}

/** Open tasks below this root. Counting them is free; they are listed only if there are any. */
function openUnder(context: EngineContext, { id }: Task): Task[] {
  if (context.tasks.openUnderRoot(id) <= 1) return [];
  return [...context.tasks.open()].flatMap(({ task }) => (task.root === id && task.id !== id ? [task] : []));
}

/**
 * Notes about this root that its agent has not read. Finished agents do not read notes. Agents with
 * a pattern do not read them either, because their `work` child held the conversation.
 */
export function unreadNotes({ bus, config, agents }: Pick<Ports, 'bus' | 'config' | 'agents'>, task: Task): number {
  const { id, to } = task;
  const channels = to === undefined ? [] : channelsRead(to, config.channels);
  const agent = channels.length === 0 ? undefined : agents.all().get(to!);
  if (agent === undefined || !isLeaf(task, agent)) return 0;
  let unread = 0;
  for (const channel of channels)
    for (const note of bus.unread(channel, to!))
      if (note.from !== to && note.task !== undefined && rootOf(note.task, note.root) === id) unread++;
  return unread;
}

/** An id without a dot is a root. Other notes name their root, except those of earlier versions. */
function rootOf(task: string, root: string | undefined): string {
  return root ?? task.split('.', 1)[0]!;
}
