/**
 * A task in one line, for lists and graphs: its request, or its answer if its role only answers a
 * question.
 */
import { roleFacts } from '../domain/task/role.js';
import { unfenced } from '../rules/patterns/gather.js';
import { readBid } from '../domain/task/bid.js';
import { readAssignment, readProvided, readResolution } from '../domain/coordination/dependency.js';
import { readDraft, readTrialVerdict } from '../domain/agent/draft.js';
import { readVerdict } from '../domain/task/goal-verdict.js';
import type { Task } from '../domain/task/task.js';
import { byWhom } from './note-text.js';

type Summarized = Pick<Task, 'role' | 'type' | 'description' | 'result'>;

export function summary(task: Summarized): string {
  const answer = task.result === undefined ? undefined : ANSWERS[task.role]?.(task.result, task);
  return answer ?? request(task);
}

/** Starts with the reason of a failure, because people look for that in a list. */
export function summaryOrFailure(task: Summarized & Pick<Task, 'error'>): string {
  return task.error === undefined ? summary(task) : `${task.error.message.split('\n', 1)[0]} · ${summary(task)}`;
}

function request({ role, type, description }: Summarized): string {
  const short = REQUESTS[role]?.(description);
  if (short !== undefined) return short;
  const text = (type === 'message' ? messageIn(description) : undefined) ?? asked(description);
  return roleFacts(role).need === 'dependency' && type !== undefined ? `${type}: ${text}` : text;
}

/** Requests that the program writes are prompts; people only need to know their subject. */
const REQUESTS: Record<string, (description: string) => string | undefined> = {
  bid(description) {
    const offered = /<offered_task__[^>]*>\n([^]*?)\n<\/offered_task__/.exec(description)?.[1];
    return offered && `bid on: ${offered}`;
  },
  advisor(description) {
    // The last paragraph tells an advisor its task.
    const end = description.lastIndexOf('\n\n');
    return end > 0 ? asked(description.slice(0, end)) : undefined;
  },
  check: () => 'Does the result advance the goal?',
  judge: () => 'Is the new agent good enough?',
};

/** A stage of a pattern gets the person's request in a fence, then the program's words. */
function asked(description: string): string {
  return unfenced(/^<(\w+__[0-9a-z]{4,11})[^>]*>\n([^]*?)\n<\/\1>/.exec(description)?.[2] ?? description);
}

/**
 * The words of a message from outside. Its task has them in a fence, below facts about the message.
 */
function messageIn(description: string): string | undefined {
  const inside = /<message[^>]*>\n([^]*)\n<\/message/.exec(description)?.[1];
  const words = inside?.split('\n\n').slice(1).join(' ').trim();
  return words === undefined || words === '' ? inside : words;
}

const ANSWERS: Record<string, (result: string, task: Summarized) => string | undefined> = {
  check(result) {
    const verdict = readVerdict(result);
    return verdict && `${verdict.advances ? 'yes' : 'no'}: ${verdict.reason}`;
  },
  bid(result) {
    const bid = readBid(result);
    if (bid === undefined) return undefined;
    const answer = bid.proceed ? (bid.able ? `${bid.fitness} of 10` : 'unable') : 'steps back';
    return `${answer}: ${bid.reason}`;
  },
  draft(result) {
    const draft = readDraft(result);
    return draft && `a new agent, ${draft.name}`;
  },
  judge(result) {
    const verdict = readTrialVerdict(result);
    return verdict && `${verdict.works ? 'it works' : 'it does not work'}: ${verdict.reason}`;
  },
  match(result) {
    const choice = readAssignment(result);
    return choice && `${choice.agent}${choice.reason === undefined ? '' : `: ${choice.reason}`}`;
  },
  provide(result) {
    const { status, data } = readProvided(result) ?? { status: 'resolved', data: result };
    return status === 'resolved' ? (data ?? 'yes') : `${status}: ${data ?? ''}`;
  },
  dependency: resolved,
  help: resolved,
};

function resolved(result: string, task: Summarized): string | undefined {
  const resolution = readResolution(result);
  return resolution && `${request(task)} (${resolution.status}${byWhom(resolution.provider)})`;
}
