/**
 * Some roles require one call of one tool and nothing else: a goal check must give its verdict. A
 * model that answers in words, or calls the tool wrongly, is reminded once. After that the task has
 * failed; a retry asks again.
 */
import { readBid } from '../../domain/task/bid.js';
import { readAssignment } from '../../domain/coordination/dependency.js';
import { readVerdict } from '../../domain/task/goal-verdict.js';
import { readTrialVerdict } from '../../domain/agent/draft.js';
import { readKeys } from '../../domain/task/breakdown.js';
import { problem } from '../../domain/problem.js';
import { finalAnswer, reportedAnswer, type Message } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { controlMessage, type SayStep } from './step.js';

interface Owed {
  /** Words that are as good as the call. */
  fits(words: string): boolean;
  /** Turns it has for it; default 2. */
  tries?: number;
}

/** By tool. */
const OWED: Readonly<Record<string, Owed>> = {
  assign_provider: { fits: (words) => readAssignment(words) !== undefined },
  give_verdict: { fits: (words) => readVerdict(words) !== undefined },
  name_duplicates: { fits: (words) => readKeys(words) !== undefined },
  draft_agent: { fits: () => false, tries: 5 },
  judge_trial: { fits: (words) => readTrialVerdict(words) !== undefined },
  place_bid: { fits: (words) => readBid(words) !== undefined },
};

export function owesCall(task: Pick<Task, 'role'>): boolean {
  return owedTool(task) !== undefined;
}

function owedTool({ role }: Pick<Task, 'role'>): string | undefined {
  return roleFacts(role).requiredTool;
}

/** Undefined: no call is required, or nothing is wrong yet. */
export function reminder(task: Task, messages: readonly Message[]): SayStep | undefined {
  const tool = owedTool(task);
  if (tool === undefined || reportedAnswer(messages) !== undefined) return undefined;
  const owed = OWED[tool]!;
  const words = finalAnswer(messages);
  if (words !== undefined && owed.fits(words)) return undefined;
  const since = messages.slice(messages.findLastIndex((message) => message.kind === 'required_call_missing') + 1);
  const tries = since.filter((message) => message.role === 'assistant').length;
  const most = owed.tries ?? MOST_TRIES;
  if (tries >= most) {
    const lacking = `there was no ${tool} in ${most} turns`;
    return {
      do: 'say',
      messages: [controlMessage('required_call_missing', `That was no answer: ${lacking}. Call ${tool}.`)],
      failure: problem('model_failed', `${lacking}, only ${kindOf(words)}`),
    };
  }
  if (words === undefined) return undefined;
  const text = `Your answer does not count in words. Call ${tool}, once, and nothing else.`;
  return { do: 'say', messages: [controlMessage('required_call_reminder', text)] };
}

const MOST_TRIES = 2;

function kindOf(words: string | undefined): string {
  return words === undefined ? 'calls that do not fit' : 'words';
}
