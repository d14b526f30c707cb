/** What a task is about, for one line of a picture: what it says, or, of parts that only answer a question, what they answered. */
import { readBid } from '../domain/bid.js';
import { readDraft, readTrialVerdict } from '../domain/draft.js';
import { readVerdict } from '../domain/goal-verdict.js';
import type { Task } from '../domain/task.js';

export function gist(task: Pick<Task, 'role' | 'description' | 'result'>): string {
  const said = task.result === undefined ? undefined : ANSWERS[task.role]?.(task.result);
  return said ?? unfenced(task.description);
}

const ANSWERS: Record<string, (result: string) => string | undefined> = {
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
};

/** Without the tags that keep the words of one apart from those of another: in one line people need the words. */
function unfenced(description: string): string {
  return description.replace(/<\/?\w+__[0-9a-z]{11}(?: agent="[\w.-]*")?>/g, '').trim();
}
