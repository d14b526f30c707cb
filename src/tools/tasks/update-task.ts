/**
 * Says how a task stands. About the agent's own task `completed` or `failed` is its final answer. About another bullet of a
 * board it changes what stands there; running it again changes nothing more, so it needs no record of an effect.
 */
import { roleFacts } from '../../domain/task/role.js';
import { problemText } from '../../domain/problem.js';
import type { BoardChange } from '../../ports/board-tools.js';
import type { Tool, ToolReply } from '../core/tool.js';

const STATUSES = ['completed', 'failed', 'in_progress', 'open', 'skipped'];

export const updateTask: Tool = {
  name: 'update_task',
  kind: 'ask',
  description:
    'Says how a task stands. Your own task: status completed or failed ends it, and note is your whole result. Another bullet of a board under tasks/: changes its status, note, priority or fields.',
  parameters: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'Id of the task; your own if left out' },
      status: { type: 'string', enum: STATUSES, description: 'How it stands now' },
      note: { type: 'string', description: 'The result, or why' },
      priority: { type: 'string', enum: ['A', 'B', 'C', 'D'], description: 'A is first' },
      fields: {
        type: 'object',
        description: 'Other keys of the bullet and their values; null takes one away',
        additionalProperties: true,
      },
    },
    additionalProperties: false,
  },
  async run(args, context) {
    const change = args as BoardChange & { id?: string };
    const { task } = context;
    const id = change.id?.trim() || task.id;
    const isOwn = id === task.id || (roleFacts(task.role).isOwnWork && id === task.parent);
    if (isOwn && (change.status === 'completed' || change.status === 'failed')) return finalAnswer(change);
    const wrong = flawOf(change);
    if (wrong) return { kind: 'problem', code: 'bad_field', message: wrong };
    if (isOwn && change.status === 'in_progress') return { kind: 'text', text: 'Noted: your task is in progress.' };
    if (isOwn && change.status !== undefined)
      return notYours(`${id} is your own task: end it with completed or failed`);
    const { id: _, ...rest } = change;
    const done = await context.boardTools.change(context.agent.name, id, rest);
    if (typeof done === 'string') return { kind: 'text', text: done };
    const own = done.code === 'not_found' ? ` (your own task is ${task.id})` : '';
    return { kind: 'problem', code: done.code, message: problemText(done) + own };
  },
};

function finalAnswer({ status, note }: BoardChange): ToolReply {
  const said = note?.trim() ?? '';
  if (said === '')
    return {
      kind: 'problem',
      code: 'bad_field',
      message: 'note is missing; write the whole result into it, the asker sees nothing else',
    };
  return { kind: 'final', text: status === 'failed' ? `Not achieved: ${said}` : said };
}

function flawOf({ status, note, priority, fields }: BoardChange): string | undefined {
  if (status === undefined && note === undefined && priority === undefined && Object.keys(fields ?? {}).length === 0)
    return 'say what shall change: status, note, priority or fields';
  const odd = Object.entries(fields ?? {}).find(([, value]) => value !== null && typeof value === 'object');
  return odd && `fields.${odd[0]} must be text, a number, true, false or null`;
}

function notYours(message: string): ToolReply {
  return { kind: 'problem', code: 'not_allowed', message };
}
