/**
 * A circle in which somebody only depends on others has no ask that could be given up: a task fails, and nobody would do its work. Where there is a
 * coordinator, it gets a task of its own about that, and finds another way with the tools it has. Its id follows from the circle and from how often
 * each task in it was tried again: so whoever finds the circle, and however often, there is one such task, and another when people tried again in vain.
 */
import { hash53 } from '../../domain/task/id.js';
import { visible } from '../../domain/coordination/mail.js';
import { compareText } from '../../domain/order.js';
import { makeTask, type Task } from '../../domain/task/task.js';
import { cycleText } from '../../rules/coordination/deadlock.js';
import { record, type Ports } from '../core/context.js';

/** `key`: of the circle; `lost`: those in it that fail. The id of the coordinator's task; undefined: there is nobody to ask. */
export async function askCoordinator(
  context: Ports,
  circle: readonly string[],
  key: string,
  lost: readonly Task[],
): Promise<string | undefined> {
  const { mode, coordinator } = context.config.coordination;
  if (mode !== 'hierarchical' || coordinator === undefined || !context.agents.all().has(coordinator)) return undefined;
  const taint = new Set(lost.flatMap(({ context }) => (Array.isArray(context['taint']) ? context['taint'] : [])));
  const task = makeTask({
    id: `deadlock-${key}`,
    type: 'deadlock',
    description: `${REQUEST}\n\nThe circle: ${cycleText(circle)}\n\nWhat failed:\n${lost.map(lineOf).join('\n')}`,
    to: coordinator,
    from: 'guildhall',
    created_by: 'guildhall',
    created_at: context.clock.now().toISOString(),
    context: { original_goal: REQUEST, ...(taint.size > 0 ? { taint: [...taint] } : {}) },
  });
  if (await context.tasks.create(task))
    record(context, 'task.created', { task: task.id, agent: coordinator, cause: lost[0]!.id });
  return task.id;
}

/** The same for everybody who finds this circle, wherever they began; another after a retry. */
export function circleKey(circle: readonly string[], find: (id: string) => { task: Task } | undefined): string {
  const named = circle.map((id) => {
    const retries = find(id)?.task.retries ?? 0;
    return retries === 0 ? id : `${id} ${retries}`;
  });
  return hash53(named.sort(compareText).join('\n'));
}

const REQUEST =
  'Tasks depended on each other in a circle, so that none of them could ever begin, and it was broken. See to it that the work is done another way: make tasks for it, for the same agents or for others, without the dependency that closed the circle; or say why it is not needed any more.';

/** What somebody wrote into a task is told in one line. */
function lineOf({ id, to, dependencies, description }: Task): string {
  const about = visible(description.split('\n')[0]!).slice(0, 200);
  return `- ${id} (@${to ?? 'nobody yet'}), which depends on ${dependencies.join(', ')}: ${about}`;
}
