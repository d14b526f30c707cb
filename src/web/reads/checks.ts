/** Goal checks of what was said in a conversation. Each was made in a conversation of its own. */
import { defined } from '../../domain/defined.js';
import type { Message } from '../../domain/session/session.js';
import { readVerdict } from '../../domain/task/goal-verdict.js';
import { childId } from '../../domain/task/id.js';
import { roleFacts } from '../../domain/task/role.js';
import { isEnded, type Placed } from '../../domain/task/task.js';
import type { ShownCheck } from '../base/contract.js';
import type { Moment } from './moment.js';

/** The engine makes at most two. */
const ROUNDS = [1, 2];

/** `placed`: the task of the conversation; its parent asks for the checks. */
export async function checksOf(
  moment: Moment,
  placed: Placed | undefined,
  messages: readonly Message[],
): Promise<ShownCheck[]> {
  const parent = placed?.task.parent;
  if (parent === undefined || !roleFacts(placed!.task.role).isOwnWork) return [];
  const checks = await Promise.all(ROUNDS.map((round) => moment.task(childId(parent, `check-${round}`))));
  return checks.flatMap((check) =>
    check === undefined || roleFacts(check.task.role).prompt !== 'check' ? [] : [checkOf(moment, check, messages)],
  );
}

function checkOf({ log }: Moment, { task, state }: Placed, messages: readonly Message[]): ShownCheck {
  const verdict = state === 'completed' ? readVerdict(task.result ?? '') : undefined;
  const call = log
    .events((name, of) => name === 'model.answered' && of === task.id)
    .findLast((event) => typeof event['model'] === 'string');
  const later = messages.findIndex(({ timestamp }) => timestamp !== undefined && timestamp > task.created_at);
  return defined({
    task: task.id,
    after: later === -1 ? messages.length : later,
    verdict: verdictWord(verdict?.advances, isEnded(state)),
    reason: verdict?.reason ?? task.error?.message ?? '',
    at: task.ended_at ?? task.created_at,
    model: call === undefined ? undefined : String(call['model']),
    ms: task.ended_at === undefined ? undefined : Date.parse(task.ended_at) - Date.parse(task.created_at),
    microUsd: (task.usage ?? task.own_usage)?.microUsd ?? 0,
  });
}

function verdictWord(advances: boolean | undefined, hasEnded: boolean): ShownCheck['verdict'] {
  if (advances !== undefined) return advances ? 'yes' : 'no';
  return hasEnded ? 'none' : 'open';
}
