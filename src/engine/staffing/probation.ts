/** Retires agents on probation after three or more bad results that outnumber the accepted ones. */
import { recordOf, tally } from '../../rules/staffing/track-record.js';
import { record, type EngineContext } from '../core/context.js';

const MIN_FAULTS = 3;

/** True if an agent was retired. Its file moves to `agents/retired/`. */
export function retireFailing(context: EngineContext): boolean {
  const onProbation: string[] = [];
  for (const { name, probation } of context.agents.all().values()) if (probation) onProbation.push(name);
  if (onProbation.length === 0) return false;
  const records = context.bids.records();
  const busy = new Set([...context.tasks.open()].map(({ task }) => task.to));
  let moved = false;
  for (const name of onProbation) {
    const { accepted, rejected, failed } = tally(recordOf(records, name));
    if (rejected + failed < MIN_FAULTS || rejected + failed <= accepted || busy.has(name)) continue;
    if (!context.agents.retire(name)) continue;
    const why = `on probation: ${accepted} accepted, ${rejected} rejected, ${failed} failed`;
    record(context, 'agent.retired', { agent: name, why });
    moved = true;
  }
  return moved;
}
