/**
 * Warns about bullets that name no agent where several agents could take them: each such bullet
 * asks every one of these agents for a bid, which costs a model call each.
 */
import type { Agent } from '../../domain/agent/agent.js';
import type { Config } from '../../domain/config/config.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Sheet } from '../../text/board/tasks.js';

export function offeredBullets(
  sheets: readonly Sheet[],
  agents: Iterable<Agent>,
  { defaultAgent }: Pick<Config, 'defaultAgent'>,
): Problem[] {
  const bidders = [...agents].filter(({ threshold }) => threshold !== 'never');
  if (bidders.length < 2 || bidders.some(({ name }) => name === defaultAgent)) return [];
  return sheets.flatMap(({ board: { items, file } }) => {
    const free = items.filter(
      ({ inTodo, box, stakeholders, fields }) =>
        inTodo && box === 'open' && stakeholders.length === 0 && !fields.some(({ key }) => key === 'requirements'),
    );
    if (free.length === 0) return [];
    const many = free.length === 1 ? 'a bullet names no agent' : `${free.length} bullets name no agent`;
    return problem(
      'bad_field',
      `${many}: all ${bidders.length} agents are asked for a bid${free.length === 1 ? '' : ' on each'}, with a model call`,
      {
        where: { file, line: free[0]!.line },
        hint: 'write @NAME on the bullet, or set default_agent in guild.yaml',
      },
    );
  });
}
