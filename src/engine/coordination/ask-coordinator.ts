/**
 * Creates a task for the coordinator when breaking a cycle makes tasks fail: it finds another way
 * to do their work. The task id is derived from the cycle and the retries of its tasks: every
 * process that finds the cycle creates the same task, and a retry that fails again creates another.
 */
import { defined } from '../../domain/defined.js';
import { hash53 } from '../../domain/task/id.js';
import { visible } from '../../domain/coordination/mail.js';
import { compareText } from '../../domain/order.js';
import { makeTask, type Task } from '../../domain/task/task.js';
import { cycleText } from '../../rules/coordination/deadlock.js';
import { record, type Ports } from '../core/context.js';

/**
 * Returns the id of the coordinator's task; undefined without a coordinator. `key` identifies the
 * cycle; `lost` are its tasks that fail.
 */
export async function askCoordinator(
  context: Ports,
  cycle: readonly string[],
  key: string,
  lost: readonly Task[],
): Promise<string | undefined> {
  const { mode, coordinator } = context.config.coordination;
  if (mode !== 'hierarchical' || coordinator === undefined || !context.agents.all().has(coordinator)) return undefined;
  const taint = new Set(lost.flatMap(({ context }) => (Array.isArray(context['taint']) ? context['taint'] : [])));
  const task = makeTask({
    id: `deadlock-${key}`,
    type: 'deadlock',
    description: `${REQUEST}\n\nThe cycle: ${cycleText(cycle)}\n\nFailed tasks:\n${lost.map(lineOf).join('\n')}`,
    to: coordinator,
    from: 'guildhall',
    created_by: 'guildhall',
    created_at: context.clock.now().toISOString(),
    context: defined({ original_goal: REQUEST, taint: taint.size > 0 ? [...taint] : undefined }),
  });
  if (await context.tasks.create(task))
    record(context, 'task.created', { task: task.id, agent: coordinator, cause: lost[0]!.id });
  return task.id;
}

/** The same wherever the search entered the cycle; another one after a retry. */
export function cycleKey(cycle: readonly string[], find: (id: string) => { task: Task } | undefined): string {
  const names = cycle.map((id) => {
    const retries = find(id)?.task.retries ?? 0;
    return retries === 0 ? id : `${id} ${retries}`;
  });
  return hash53(names.sort(compareText).join('\n'));
}

const REQUEST =
  'Tasks depended on each other in a cycle, so none of them could start, and the cycle was broken. Make sure that the work gets done in another way: create tasks for it, for the same agents or for others, without the dependency that closed the cycle; or say why it is no longer needed.';

/** One line: a description may contain line breaks and control characters. */
function lineOf({ id, to, dependencies, description }: Task): string {
  const about = visible(description.split('\n')[0]!).slice(0, 200);
  return `- ${id} (@${to ?? 'unassigned'}), which depends on ${dependencies.join(', ')}: ${about}`;
}
