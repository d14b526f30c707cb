/** Costs by agent, model, task, role or day. */
import { addCosts, BY, costSums, noCosts, type CostBy, type CostSum } from '../../app/readers/aggregates/cost-sums.js';
import { problem, ProblemError } from '../../domain/problem.js';
import type { CostRow, Costs } from '../base/contract.js';
import type { Log } from '../base/log.js';

const ROWS_MAX = 500;
const DAYS_SHOWN = 30;

export function costsBy(log: Log, by: string, since: string): Costs {
  if (!BY.includes(by as CostBy))
    throw new ProblemError(problem('bad_usage', `costs are summed by ${BY.join(', ')}, not by ${JSON.stringify(by)}`));
  const events = log.index();
  const { rows } = costSums(events, by as CostBy, since);
  const total = noCosts('total');
  for (const row of rows) addCosts(total, row);
  const days = by === 'day' ? rows : costSums(events, 'day', since).rows;
  return {
    by,
    rows: rows.slice(0, ROWS_MAX).map(costRow),
    total: costRow(total),
    days: days
      .slice(-DAYS_SHOWN)
      .map((row) => ({ day: row.key, microUsd: row.micro_usd, tokens: row.input_tokens + row.output_tokens })),
  };
}

function costRow(sum: CostSum): CostRow {
  return {
    key: sum.key,
    calls: sum.calls,
    toolCalls: sum.tool_calls,
    tokens: sum.input_tokens + sum.output_tokens,
    microUsd: sum.micro_usd,
    unpricedCalls: sum.unpriced_calls,
    ms: sum.ms,
  };
}
