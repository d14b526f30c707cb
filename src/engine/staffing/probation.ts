/** Retires agents on probation whose work does not hold: more of it failed, or was rejected, than was accepted, and at least three times. */
import { recordOf, tally } from '../../rules/staffing/track-record.js';
import { record, type EngineContext } from '../core/context.js';

const LEAST_FAULTS = 3;

/** True if any was retired. Its file is kept, under `agents/retired/`. */
export function retireFailing(context: EngineContext): boolean {
  const onProbation = [...context.agents.all().values()].filter((agent) => agent.probation);
  if (onProbation.length === 0) return false;
  const records = context.bids.records();
  const busy = new Set([...context.tasks.open()].map(({ task }) => task.to));
  let moved = false;
  for (const { name } of onProbation) {
    const { accepted, rejected, failed } = tally(recordOf(records, name));
    if (rejected + failed < LEAST_FAULTS || rejected + failed <= accepted || busy.has(name)) continue;
    if (!context.agents.retire(name)) continue;
    const why = `on probation: ${accepted} accepted, ${rejected} rejected, ${failed} failed`;
    record(context, 'agent.retired', { agent: name, why });
    moved = true;
  }
  return moved;
}
