/** What a task is about, for one line of a picture: what it says, or, of parts that only answer a question, what they answered. */
import { roleFacts } from '../domain/task/role.js';
import { unfenced } from '../rules/patterns/gather.js';
import { readBid } from '../domain/task/bid.js';
import { readAssignment, readProvided, readResolution } from '../domain/coordination/dependency.js';
import { readDraft, readTrialVerdict } from '../domain/agent/draft.js';
import { readVerdict } from '../domain/task/goal-verdict.js';
import type { Task } from '../domain/task/task.js';
import { byWhom } from './note-text.js';

type Told = Pick<Task, 'role' | 'type' | 'description' | 'result'>;

export function gist(task: Told): string {
  const said = task.result === undefined ? undefined : ANSWERS[task.role]?.(task.result, task);
  return said ?? asked(task);
}

/** Why it failed first, where it did: that is what people look for in a list. */
export function gistOrFailure(task: Told & Pick<Task, 'error'>): string {
  return task.error === undefined ? gist(task) : `${task.error.message.split('\n', 1)[0]} · ${gist(task)}`;
}

function asked({ role, type, description }: Told): string {
  const text = unfenced(description);
  return roleFacts(role).need === 'dependency' && type !== undefined ? `${type}: ${text}` : text;
}

const ANSWERS: Record<string, (result: string, task: Told) => string | undefined> = {
  check(result) {
    const verdict = readVerdict(result);
    return verdict && `${verdict.advances ? 'yes' : 'no'}: ${verdict.reason}`;
  },
  bid(result) {
    const bid = readBid(result);
    if (bid === undefined) return undefined;
    const wants = bid.proceed ? (bid.able ? `${bid.fitness} of 10` : 'unable') : 'steps back';
    return `${wants}: ${bid.reason}`;
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

function resolved(result: string, task: Told): string | undefined {
  const resolution = readResolution(result);
  return resolution && `${asked(task)} (${resolution.status}${byWhom(resolution.provider)})`;
}
