/**
 * Before a root completes: is anything of it open, unread or half done, and do the other processes agree? What is open is waited for; the root is
 * parked and looks again when that has ended. In a workspace with one process this costs a look into memory: nothing is scanned, and no
 * file is written for it.
 */
import { roleFacts } from '../../domain/task/role.js';
import type { Certificate } from '../../domain/task/certificate.js';
import type { Task, Waits } from '../../domain/task/task.js';
import { channelsRead } from '../../rules/coordination/channels.js';
import { isLeaf } from '../../rules/patterns/decide.js';
import { effectsUnderWay } from '../core/effects.js';
import type { EngineContext, Ports } from '../core/context.js';

/** `subtasks`: what people put under the root while it was worked on; it depends on them from now on, and they are in its books. */
export type Certified = { certificate: Certificate } | { waits: Waits; subtasks: string[] };

export async function certify(context: EngineContext, task: Task): Promise<Certified> {
  const open = openUnder(context, task);
  if (open.length > 0) {
    const put = open
      .filter((one) => one.parent === task.id && roleFacts(one.role).isAddedByPeople)
      .map((one) => one.id);
    const subtasks = put.filter((id) => !task.dependencies.includes(id));
    return { waits: { tasks: open.map((one) => one.id) }, subtasks };
  }
  const unread = unreadNotes(context, task);
  const effects = effectsUnderWay(context, task.id);
  if (unread + effects > 0) return { waits: { until: context.clock.now().toISOString() }, subtasks: [] };
  const said = await context.votes.agree(task);
  if (said === undefined || 'agreed' in said)
    return { certificate: { open: 0, unread, effects, agreed: said?.agreed ?? 1, of: said?.of ?? 1 } };
  // Somebody knows of something that is not over, or we are leaving: whoever looks next asks again.
  return { waits: { until: said.until }, subtasks: [] };
}

/** Open tasks of this root but itself. Asking how many there are costs nothing; which they are is only looked up when there are any. */
function openUnder(context: EngineContext, { id }: Task): Task[] {
  if (context.tasks.openUnderRoot(id) <= 1) return [];
  const found: Task[] = [];
  for (const { task } of context.tasks.open()) if (task.root === id && task.id !== id) found.push(task);
  return found;
}

/**
 * Notes about this root that the agent of the root reads and has not heard. Who has ended its part listens no more: so does an agent with a
 * pattern, which spoke in its work.
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

/** A name with no dot is a root's; of the others the note says the root, unless an earlier version told it. */
function rootOf(task: string, root: string | undefined): string {
  return root ?? task.split('.', 1)[0]!;
}
