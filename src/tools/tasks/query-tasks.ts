/** Queries tasks, conversations, agents, events and board bullets. Read-only. */
import { problemText } from '../../domain/problem.js';
import { defineTool, text, toolProblem } from '../core/define-tool.js';

const MAX_ROWS = 200;
/** Below the size at which a tool result is moved out of the conversation. */
const MAX_CHARS = 14_000;

export const queryTasks = defineTool({
  name: 'query_tasks',
  kind: 'pure',
  description:
    "Looks up tasks and more with a query such as: SELECT id, to, description FROM tasks WHERE state = 'waiting' LIMIT 20. Sources: tasks, sessions, agents, events, or a board like tasks/plan.task.md. SELECT only; also COUNT(*), ORDER BY, LIKE, IN, CONTAINS, IS NULL.",
  args: { query: text('The query') },
  async run({ query }, context) {
    const reply = await context.boardTools.select(query);
    if ('code' in reply) return toolProblem(reply.code, problemText(reply));
    const lines: string[] = [];
    let room = MAX_CHARS;
    for (const row of reply.rows.slice(0, MAX_ROWS)) {
      const line = JSON.stringify(row);
      room -= line.length + 1;
      if (room < 0 && lines.length > 0) break;
      lines.push(line);
    }
    const { length } = reply.rows;
    if (length === 0) lines.push('no rows');
    if (lines.length < length)
      lines.push(`[${lines.length} of ${length} rows; select fewer columns, or narrow the query with WHERE and LIMIT]`);
    if (reply.leftOut > 0) lines.push(`[${reply.leftOut} entries of this board cannot be read and were left out]`);
    const { taint } = reply;
    return { kind: 'text', text: lines.join('\n'), ...(taint.length > 0 ? { taint } : {}) };
  },
});
