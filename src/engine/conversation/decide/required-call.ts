/**
 * Some roles require one call of one tool and nothing else: a goal check must call give_verdict. A
 * model that answers in text or calls the tool wrongly gets a reminder; then the task fails. A
 * retry of the task asks again.
 */
import type { Agent } from '../../../domain/agent/agent.js';
import { readBid } from '../../../domain/task/bid.js';
import { readAssignment } from '../../../domain/coordination/dependency.js';
import { readVerdict } from '../../../domain/task/goal-verdict.js';
import { readTrialVerdict } from '../../../domain/agent/draft.js';
import { readKeys } from '../../../domain/task/breakdown.js';
import { problem, type Problem } from '../../../domain/problem.js';
import { finalAnswer, reported, type Message } from '../../../domain/session/session.js';
import { roleFacts } from '../../../domain/task/role.js';
import { readRoute } from '../../../domain/task/route.js';
import type { Task } from '../../../domain/task/task.js';
import { isChoosing } from '../../../rules/patterns/router.js';
import { controlMessage, type FailStep, type SayStep, type Talk } from './step.js';

interface RequiredCall {
  /** Whether a text answer can be read as the call. */
  accepts(text: string): boolean;
  /** Turns to make the call; default 2. */
  tries?: number;
}

/** By tool. */
const REQUIRED: Readonly<Record<string, RequiredCall>> = {
  assign_provider: { accepts: (text) => readAssignment(text) !== undefined },
  give_verdict: { accepts: (text) => readVerdict(text) !== undefined },
  name_duplicates: { accepts: (text) => readKeys(text) !== undefined },
  draft_agent: { accepts: () => false, tries: 5 },
  judge_trial: { accepts: (text) => readTrialVerdict(text) !== undefined },
  route_to: { accepts: (text) => readRoute(text) !== undefined },
  place_bid: { accepts: (text) => readBid(text) !== undefined },
};

export function hasRequiredCall(task: Pick<Task, 'role'>): boolean {
  return roleFacts(task.role).requiredTool !== undefined;
}

/** The one tool that this turn must call; a router must choose. */
export function requiredTool(task: Pick<Task, 'role'>, agent: Pick<Agent, 'router'>): string | undefined {
  return isChoosing(task, agent) ? 'route_to' : roleFacts(task.role).requiredTool;
}

/** Undefined: no call is required, or no reminder is due yet. */
export function reminder({
  task,
  agent,
  messages,
}: Pick<Talk, 'task' | 'agent' | 'messages'>): SayStep | FailStep | undefined {
  const tool = requiredTool(task, agent);
  if (tool === undefined || reported(messages) !== undefined) return undefined;
  const required = REQUIRED[tool]!;
  const text = finalAnswer(messages);
  if (text !== undefined && required.accepts(text)) return undefined;
  const maxTries = required.tries ?? MAX_TRIES;
  const lacking = `no ${tool} call in ${maxTries} turns`;
  const failed = (said: string | undefined): Problem =>
    problem('model_failed', `${lacking}, only ${said === undefined ? 'invalid calls' : 'text'}`);
  const failures = messages.filter(isMissing).length;
  // The conversation already records this failure, but the process died before the task's record
  // did. Every retry allows one more attempt.
  if (failures > (task.retries ?? 0) && isMissing(messages.at(-1)))
    return { do: 'fail', problem: failed(finalAnswer(messages.slice(0, -1))) };
  const since = messages.slice(messages.findLastIndex(isMissing) + 1);
  if (since.filter((message) => message.role === 'assistant').length >= maxTries) {
    return {
      do: 'say',
      messages: [controlMessage('required_call_missing', `You have not answered: ${lacking}. Call ${tool}.`)],
      failure: failed(text),
    };
  }
  if (text === undefined) return undefined;
  const reminding = `An answer in plain text does not count here. Call ${tool} once, and nothing else.`;
  return { do: 'say', messages: [controlMessage('required_call_reminder', reminding)] };
}

const MAX_TRIES = 2;

function isMissing(message: Message | undefined): boolean {
  return message?.kind === 'required_call_missing';
}
