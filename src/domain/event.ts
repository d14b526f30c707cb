/** One line of history: what changed, and because of what. Names are noun.verb in the past. */
const EVENT_NAMES = [
  'task.created',
  'task.claimed',
  'task.parked',
  'task.released',
  'task.completed',
  'task.failed',
  'task.recovered',
  'task.retried',
  'task.changed', // a person changed the bullet it came from before anybody began
  'session.created',
  'session.edited', // a person changed the conversation
  'session.repaired', // a torn tail was set aside after a crash
  'model.answered',
  'model.failed',
  'tool.ran',
  'human.notified', // policy lets it run, and wants a person to know
  'approval.answered',
  'ballot.refused', // an entry on the ballot that counts for nothing
  'file.held',
  'file.quarantined',
  'result.fenced', // a result came too late and is kept as evidence
  'intent.taken',
  'intent.refused',
  'note.refused', // somebody may not tell this there, or it cannot be told
  'note.heard', // notes became part of a conversation
  'task.offered', // agents are asked whether they are fit for it
  'task.awarded', // who got it, and why
  'dependency.requested',
  'dependency.resolved',
  'dependency.refused', // what was asked for cannot be: the asker was told why
  'help.requested',
  'help.given',
  'help.escalated',
  'help.refused',
  'deadlock.broken', // names the circle, the victim and the rule
  'work.stuck', // starved, or busy without any change
  'root.certified',
  'agent.moved', // from one state to another
  'agent.created',
  'agent.retired',
  'workspace.undone', // a person went back to an earlier commit
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

export interface Event {
  at: string;
  name: EventName;
  task?: string;
  agent?: string;
  peer?: string;
  /** The id of the task, intent or tool call that led to this. */
  cause?: string;
  /** Where the task stands, in the lines that make and claim it (`standing`). */
  parent?: string;
  root?: string;
  [detail: string]: unknown;
}

/** What a model call took, as its line says; lines of earlier versions spelled it otherwise. */
interface CallCost {
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
  microUsd: number;
  /** The price of the model was not known. */
  isUnpriced: boolean;
  ms: number;
}

export function callCost(event: Event): CallCost {
  const amount = (name: string, before: string): number => Number(event[name] ?? event[before] ?? 0);
  return {
    inputTokens: amount('input_tokens', 'inputTokens'),
    outputTokens: amount('output_tokens', 'outputTokens'),
    cachedTokens: amount('cached_tokens', 'cachedTokens'),
    microUsd: amount('micro_usd', 'microUsd'),
    isUnpriced: event['unpriced'] === true,
    ms: amount('ms', 'ms'),
  };
}
