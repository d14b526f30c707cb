/**
 * The next step of a pattern, without a pass. Only its parent waits for a stage, and this process
 * has both in memory: stages start when their parent parks for them, and the parent continues when
 * the last one ends. Everything that needs a wider look is left to a pass.
 */
import { isSuspect } from '../../domain/task/lost-takers.js';
import { roleFacts } from '../../domain/task/role.js';
import { isForHuman, type Task } from '../../domain/task/task.js';
import { assigneeName } from '../core/assignee.js';
import type { EngineContext } from '../core/context.js';
import type { Flights } from './flights.js';
import { isHosted, isPaused, mustWaitAlone, takesTurns } from './runnable.js';

/** The tasks to start now that this task has left the process; undefined: a pass must look. */
export function followers(context: EngineContext, flights: Flights, left: Task): Task[] | undefined {
  const { tasks } = context;
  const now = tasks.getOpen(left.id);
  const isEndedStage = now === undefined && left.parent !== undefined && roleFacts(left.role).isStage;
  const waiting = isEndedStage ? tasks.getOpen(left.parent!) : now;
  if (waiting?.state !== 'waiting' || waiting.task.waits?.until !== undefined) return undefined;
  const awaited: Task[] = [];
  for (const id of waiting.task.waits?.tasks ?? []) {
    const task = tasks.getOpen(id)?.task;
    if (task === undefined ? tasks.isOpen(id) : !roleFacts(task.role).isStage) return undefined;
    if (task !== undefined) awaited.push(task);
  }
  const next = isEndedStage ? [] : awaited.filter(({ id }) => tasks.getOpen(id)!.state === 'pending');
  if (isEndedStage && awaited.length === 0) next.push(waiting.task);
  // The other stages are under way, and the last of them continues the parent.
  if (next.length === 0) return flights.hasRoot(left.root) ? [] : undefined;
  const isRoom = flights.all.size + next.length <= context.config.limits.parallel;
  return isRoom && next.every((task) => canFollow(context, flights, task)) ? next : undefined;
}

/** True only if a pass would also start this task. */
function canFollow(context: EngineContext, flights: Flights, task: Task): boolean {
  if (flights.all.has(task.id) || isForHuman(task) || isSuspect(task) || mustWaitAlone(flights, task)) return false;
  // Other processes may host its agent, or work for the same agent.
  if (context.hosts !== undefined || !isHosted(context, task) || isPaused(context, task)) return false;
  const agent = context.agents.all().get(assigneeName(context, task));
  if (agent === undefined || agent.maxConcurrentTasks !== Infinity || takesTurns(task, agent)) return false;
  return task.dependencies.every((id) => !context.tasks.isOpen(id));
}
