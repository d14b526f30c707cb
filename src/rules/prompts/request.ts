/**
 * The first message of a task: the request, the goal it serves (if that is a different text), who
 * asks, and what the asker attached. It contains none of the program's own bookkeeping.
 */
import { defined } from '../../domain/defined.js';
import { roleFacts } from '../../domain/task/role.js';
import { PROGRAM_KEYS, type Task } from '../../domain/task/task.js';

interface RequestFacts {
  task: Task;
  request: string;
  /** Names of variables that the agent's prompt declares. */
  variables: readonly string[];
  /** Text that the conversation already contains; none of it is repeated. */
  said: (text: string) => boolean;
  results: readonly string[];
}

export function requestText({ task, request, variables, said, results }: RequestFacts): string {
  const { original_goal: goal, reply_to: replyTo, ...rest } = task.context;
  const isNew = goal !== undefined && !request.includes(goal) && !said(goal);
  const given = Object.entries(rest).filter(
    ([key, value]) => !HIDDEN.has(key) && value !== undefined && value !== null,
  );
  const values = given.filter(([key]) => variables.includes(key));
  const details = given.filter(([key]) => !variables.includes(key));
  const { isRound } = roleFacts(task.role);
  const isNamed = isRound || task.parent === undefined || task.from === task.to;
  const from = isNamed ? undefined : task.from;
  return [
    request,
    ...(isNew && task.parent !== undefined ? [`Goal it serves: ${goal}`] : []),
    ...(from === undefined || said(`Asked by: ${from}`) ? [] : [`Asked by: ${from}`]),
    ...listed('For this task, these values replace the ones in your instructions:', values),
    ...listed('Details:', details),
    ...(replyTo === undefined ? [] : listed('Where an answer would go:', Object.entries(replyTo as object))),
    ...results,
  ].join('\n\n');
}

const HIDDEN = new Set([...PROGRAM_KEYS, 'approval_required']);

function listed(head: string, entries: readonly [string, unknown][]): string[] {
  if (entries.length === 0) return [];
  return [[head, ...entries.map(([key, value]) => `- ${key}: ${textOf(value)}`)].join('\n')];
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.includes('\n') ? `\n${value.replace(/^/gm, '    ')}` : value;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ');
  return JSON.stringify(typeof value === 'object' && value !== null ? defined(value) : value);
}
