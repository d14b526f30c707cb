/** Retires agents on probation whose work does not hold: more of it failed, or was rejected, than was accepted, and at least three times. */
import { recordOf, tally } from '../../rules/staffing/track-record.js';
import { record, type Parts } from '../core/context.js';

const LEAST_FAULTS = 3;

/** True if any was retired. Its file is kept, under `agents/retired/`. */
export function retireFailing(parts: Parts): boolean {
  const onProbation = [...parts.agents.all().values()].filter((agent) => agent.probation);
  if (onProbation.length === 0 || parts.bids === undefined) return false;
  const records = parts.bids.records();
  const busy = new Set([...parts.store.open()].map(({ task }) => task.to));
  let moved = false;
  for (const { name } of onProbation) {
    const { accepted, rejected, failed } = tally(recordOf(records, name));
    if (rejected + failed < LEAST_FAULTS || rejected + failed <= accepted || busy.has(name)) continue;
    if (!parts.agents.retire(name)) continue;
    const why = `on probation: ${accepted} accepted, ${rejected} rejected, ${failed} failed`;
    record(parts, 'agent.retired', { agent: name, why });
    moved = true;
  }
  return moved;
}
