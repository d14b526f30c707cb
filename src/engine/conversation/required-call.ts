/**
 * Some parts owe one call of one tool and nothing else: a goal check owes its verdict. A model that answers in words instead, or
 * calls it wrongly, is told once what is missing. After that the part has failed; its conversation says so, and a retry asks anew.
 */
import { readBid } from '../../domain/task/bid.js';
import { readAssignment } from '../../domain/coordination/dependency.js';
import { readVerdict } from '../../domain/task/goal-verdict.js';
import { readTrialVerdict } from '../../domain/agent/draft.js';
import { readKeys } from '../../domain/task/piece.js';
import { problem, type Problem } from '../../domain/problem.js';
import { finalAnswer, reportedAnswer, type Message, type MessageKind } from '../../domain/session/session.js';
import { roleFacts } from '../../domain/task/role.js';
import type { Task } from '../../domain/task/task.js';
import { controlMessage } from './control-message.js';
import type { EngineContext } from '../core/context.js';

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

export function owedTool({ role }: Pick<Task, 'role'>): string | undefined {
  return roleFacts(role).requiredTool;
}

/** `message` is to be said, and then there is a problem, or another turn. Undefined: nothing is owed, or nothing is wrong yet. */
export function reminder(
  context: Pick<EngineContext, 'clock'>,
  task: Task,
  messages: readonly Message[],
): { message: Message; problem?: Problem } | undefined {
  const tool = owedTool(task);
  if (tool === undefined || reportedAnswer(messages) !== undefined) return undefined;
  const owed = OWED[tool]!;
  const words = finalAnswer(messages);
  if (words !== undefined && owed.fits(words)) return undefined;
  const since = messages.slice(messages.findLastIndex((message) => message.kind === 'required_call_missing') + 1);
  const tries = since.filter((message) => message.role === 'assistant').length;
  const say = (kind: MessageKind, content: string): Message => controlMessage(context.clock, kind, content);
  const most = owed.tries ?? MOST_TRIES;
  if (tries >= most) {
    const lacking = `there was no ${tool} in ${most} turns`;
    return {
      message: say('required_call_missing', `That was no answer: ${lacking}. Call ${tool}.`),
      problem: problem('model_failed', `${lacking}, only ${kindOf(words)}`),
    };
  }
  return words === undefined
    ? undefined
    : {
        message: say(
          'required_call_reminder',
          `Your answer does not count in words. Call ${tool}, once, and nothing else.`,
        ),
      };
}

const MOST_TRIES = 2;

function kindOf(words: string | undefined): string {
  return words === undefined ? 'calls that do not fit' : 'words';
}
