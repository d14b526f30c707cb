/**
 * Events: one line of history each, with its cause. Names are noun.verb in the past tense. The list
 * is closed, and the reference page is generated from it.
 */
export const EVENTS = {
  'task.created': 'A task was created.',
  'task.claimed': 'A process took the task for an agent.',
  'task.parked': 'The task waits for other tasks, a time, a file or a budget.',
  'task.released': 'The task went back to pending before it was done.',
  'task.completed': 'The task ended with a result.',
  'task.failed': 'The task ended with a problem.',
  'task.recovered': 'The process that worked on the task died, and the task was taken from it.',
  'task.retried': 'A failed task was opened again.',
  'task.reassigned': 'A task that had not started was given to another agent.',
  'task.changed': 'A person changed the board line of a task before the task started.',
  'task.offered': 'Agents are asked to bid for a task that names no agent.',
  'task.awarded': 'An offered task went to an agent; the event says why.',
  'session.created': 'A conversation started.',
  'session.edited': 'A person changed a conversation; the event has the difference.',
  'session.repinned': 'The agent file changed, and the conversation continues with the new version.',
  'session.repaired': 'A crash left an incomplete end of a conversation; it was moved to another file.',
  'model.answered': 'A model call succeeded; the event has its tokens, cost and time.',
  'model.failed': 'A model call failed; the event has the class of the failure.',
  'tool.ran': 'A tool call ended.',
  'human.notified': 'An action ran without approval, and the policy wants a person to know.',
  'approval.answered': 'A person approved or rejected an action, or answered a question.',
  'ballot.refused': 'An entry in `tasks/approvals.task.md` does not count; the event says why.',
  'file.held': 'A file cannot be read at the moment and is read again when it changes.',
  'file.quarantined': 'A file that can never be valid was moved to `quarantine/`.',
  'fault.contained': 'A step of a pass failed for one thing, which was skipped; the event says why.',
  'result.fenced': 'A result came after another process had taken over the task; it is kept as evidence.',
  'intent.taken': 'A request of a person or a program was carried out: cancel, stop, retry, assign, answer, tell.',
  'intent.refused': 'A request of a person or a program could not be carried out; the event says why.',
  'note.refused': 'A note was not accepted on its channel.',
  'note.heard': 'Notes were added to a conversation.',
  'dependency.requested': 'An agent asked for data, expertise, a resource, an approval or the end of another task.',
  'dependency.resolved': 'The agent got what it had asked for, or its request ended without it.',
  'dependency.refused': 'The request cannot be met; the agent gets the reason.',
  'help.requested': 'An agent asked for help.',
  'help.given': 'Another agent helped.',
  'help.escalated': 'No agent helped in time, so the coordinator or the human is asked.',
  'help.refused': 'The request for help cannot be met.',
  'deadlock.broken':
    'Tasks waited for each other in a cycle; the event names the cycle, the task that gave way and the rule.',
  'schedule.missed': 'Due times of a schedule passed without a run; the event says how many and why.',
  'webhook.refused': 'Calls to a webhook had no valid proof of their source; the event says how many.',
  'work.stuck': 'A task gets no turn, or takes turns without any progress.',
  'root.certified': 'A root task is complete: nothing below it is open, unread or half done.',
  'agent.moved': 'An agent changed from one state to another.',
  'home.moved': 'An agent that runs on one machine at a time has another one; the event says which and why.',
  'agent.created': 'A new agent file was written and approved.',
  'agent.retired': 'An agent failed its probation and was moved to `agents/retired/`.',
  'workspace.undone': 'A person went back to an earlier commit.',
} as const;
export type EventName = keyof typeof EVENTS;

export interface Event {
  at: string;
  name: EventName;
  task?: string;
  agent?: string;
  peer?: string;
  /** The id of the task, intent or tool call that led to this. */
  cause?: string;
  /** The place of the task in the tree; only in the lines that create and claim it. */
  parent?: string;
  root?: string;
  [detail: string]: unknown;
}

/** The usage of a model call. Events of earlier versions use other field names. */
export interface CallCost {
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
