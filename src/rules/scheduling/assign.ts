/** Gives a task to another agent. Only work that has not started moves; the rest is explained. */
import { noAgent } from '../../domain/nearest.js';
import { problem, type Problem } from '../../domain/problem.js';
import { roleFacts } from '../../domain/task/role.js';
import { ENGINE, HUMAN, isEnded, type Placed, type Task, type TaskState } from '../../domain/task/task.js';

/** Why the task cannot go to this agent; undefined if it can. `agents`: all known names. */
export function assignProblem(
  id: string,
  placed: Pick<Placed, 'task' | 'state'> | undefined,
  to: string,
  agents: Iterable<string>,
): Problem | undefined {
  const names = [...agents];
  if (!names.includes(to)) return problem('unknown_agent', noAgent(to, names));
  if (placed === undefined) return problem('not_found', `there is no task ${id}`);
  const { task, state } = placed;
  if (isEnded(state)) return problem('bad_usage', `${id} has ended (${state})`);
  if (!roleFacts(task.role).isWork || task.to === HUMAN || task.to === ENGINE)
    return problem('bad_usage', `${id} belongs to the program, which decides who does it`);
  if (task.to === to) return problem('bad_usage', `${id} is already a task of ${to}`);
  if (isStarted(task, state))
    return problem('bad_usage', `${id} has started, and its conversation belongs to ${task.to ?? 'the bidders'}`, {
      hint: `cancel it and create it again for ${to}`,
    });
  return undefined;
}

/** An agent has worked on it, or agents have bid for it. */
function isStarted(task: Task, state: TaskState): boolean {
  return state !== 'pending' || task.claimed_at !== undefined || task.session !== undefined;
}
