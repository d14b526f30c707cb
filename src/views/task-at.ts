/**
 * A task as it was at a moment of the past: its record without later changes, and the state that
 * its events give it.
 */
import { addUsage, NO_USAGE, type Usage } from '../domain/budget/usage.js';
import { defined } from '../domain/defined.js';
import { callCost, type Event } from '../domain/event.js';
import { isEnded, type Placed, type TaskState, type Waits } from '../domain/task/task.js';

/**
 * `events`: the events of this task, oldest first. Undefined if the task did not exist at this
 * moment.
 */
export function taskAt(placed: Placed, events: readonly Event[], atIso: string): Placed | undefined {
  const { task, state: stateNow } = placed;
  if (task.created_at > atIso) return undefined;
  const before = events.filter(({ at }) => at <= atIso);
  if (isEnded(stateNow) && task.ended_at !== undefined && task.ended_at <= atIso) return placed;
  const { state, waits, claimedAt } = foldStates(before);
  const {
    result: _result,
    error: _error,
    ended_at: _ended,
    certificate: _certificate,
    waits: _waits,
    claimed_at: _claimed,
    usage: _usage,
    own_usage: _own,
    ...kept
  } = task;
  const usage = usageOf(before);
  return {
    task: defined({ ...kept, usage, own_usage: usage, waits, claimed_at: claimedAt }),
    state,
  };
}

interface Folded {
  state: TaskState;
  waits?: Waits;
  claimedAt?: string;
}

const STATES: Partial<Record<Event['name'], TaskState>> = {
  'task.created': 'pending',
  'task.claimed': 'active',
  'task.parked': 'waiting',
  'task.released': 'pending',
  'task.recovered': 'pending',
  'task.retried': 'pending',
};

function foldStates(events: readonly Event[]): Folded {
  let folded: Folded = { state: 'pending' };
  for (const event of events) {
    const state = STATES[event.name];
    if (state === undefined) continue;
    const { claimedAt } = folded;
    folded = { state, claimedAt };
    if (state === 'active') folded.claimedAt = event.at;
    const waits = event['waits'] as Waits | undefined;
    if (state === 'waiting') folded.waits = waits ?? {};
  }
  return folded;
}

function usageOf(events: readonly Event[]): Usage {
  let usage = NO_USAGE;
  for (const event of events) {
    if (event.name === 'tool.ran') usage = addUsage(usage, { toolCalls: 1 });
    if (event.name !== 'model.answered') continue;
    const { inputTokens, outputTokens, cachedTokens, microUsd } = callCost(event);
    usage = addUsage(usage, { turns: 1, inputTokens, outputTokens, cachedTokens, microUsd });
  }
  return usage;
}
