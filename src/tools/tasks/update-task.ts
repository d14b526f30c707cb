/**
 * Reports the state of a task. For the agent's own task, `completed` or `failed` is its final
 * answer. For another bullet of a board it changes the bullet; a second run changes nothing more,
 * so the effect needs no record.
 */
import { defined } from '../../domain/defined.js';
import { roleFacts } from '../../domain/task/role.js';
import { taintIn } from '../../domain/task/taint.js';
import { problemText } from '../../domain/problem.js';
import type { BoardChange } from '../../ports/board-tools.js';
import { defineTool, mapping, oneOf, optional, text, toolProblem } from '../core/define-tool.js';
import type { ToolReply } from '../core/tool.js';

const STATUSES = ['completed', 'failed', 'in_progress', 'open', 'skipped'] as const;

export const updateTask = defineTool({
  name: 'update_task',
  kind: 'ask',
  description:
    'Reports the state of a task. Your own task: status completed ends it, and note is your whole result; status failed ends it as failed, and note says why. For another bullet of a board under tasks/, it changes the status, note, priority or fields.',
  args: {
    id: optional(text('Id of the task; your own if left out')),
    status: optional(oneOf(STATUSES, 'Its new status')),
    note: optional(text('The result, or why')),
    priority: optional(oneOf(['A', 'B', 'C', 'D'], 'A is first')),
    fields: optional(mapping('Other keys of the bullet and their values; null removes one')),
  },
  async run(args, context) {
    const { id: given, ...change } = args as BoardChange & { id?: string };
    const { task } = context;
    const id = given?.trim() || task.id;
    const isOwn = id === task.id || (roleFacts(task.role).isOwnWork && id === task.parent);
    if (isOwn && (change.status === 'completed' || change.status === 'failed')) return finalAnswer(change);
    const wrong = flawOf(change);
    if (wrong) return toolProblem('bad_field', wrong);
    if (isOwn && change.status === 'in_progress') return { kind: 'text', text: 'Noted: your task is in progress.' };
    if (isOwn && change.status !== undefined)
      return toolProblem('not_allowed', `${id} is your own task: end it with completed or failed`);
    const done = await context.boardTools.change(context.agent.name, id, change, taintIn(task));
    if (typeof done === 'string') return { kind: 'text', text: done };
    const own = done.code === 'not_found' ? ` (your own task is ${task.id})` : '';
    return toolProblem(done.code, problemText(done) + own);
  },
});

function finalAnswer({ status, note = '' }: BoardChange): ToolReply {
  const result = note.trim();
  if (result === '')
    return toolProblem('bad_field', 'note is missing; write the whole result into it, the asker sees nothing else');
  return defined({ kind: 'final', text: result, success: status === 'failed' ? false : undefined });
}

function flawOf({ status, note, priority, fields = {} }: BoardChange): string | undefined {
  if (status === undefined && note === undefined && priority === undefined && Object.keys(fields).length === 0)
    return 'say what to change: status, note, priority or fields';
  const odd = Object.entries(fields).find(([, value]) => value !== null && typeof value === 'object');
  return odd && `fields.${odd[0]} must be text, a number, true, false or null`;
}
