/**
 * Goal checks of what was said in a conversation, and who wrote its messages. Each check was made
 * in its own conversation.
 */
import { defined } from '../../domain/defined.js';
import type { Message } from '../../domain/session/session.js';
import { readVerdict } from '../../domain/task/goal-verdict.js';
import { childId } from '../../domain/task/id.js';
import { roleFacts } from '../../domain/task/role.js';
import { HUMAN, isEnded, type Placed } from '../../domain/task/task.js';
import type { ShownCheck, ShownMessage } from '../base/contract.js';
import type { Moment } from './moment.js';
import { agentOf } from './rows.js';

/** The engine makes at most two. */
const ROUNDS = [1, 2];

/** `tasks`: those of the conversation; their parents ask for the checks. */
export async function checksOf(
  moment: Moment,
  tasks: readonly Placed[],
  messages: readonly Message[],
): Promise<ShownCheck[]> {
  const parents = tasks.flatMap(({ task: { parent, role } }) =>
    parent === undefined || !roleFacts(role).isOwnWork ? [] : parent,
  );
  const ids = [...new Set(parents)].flatMap((parent) => ROUNDS.map((round) => childId(parent, `check-${round}`)));
  const checks = await Promise.all(ids.map((id) => moment.task(id)));
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

/**
 * The file names the sender of a task, and the sender of an agent's own stage is the agent itself.
 * A person wants to know who asked for the work as a whole, or that a check sent the answer back.
 * `taskOf`: the task that begins with message `n`, where that is known.
 */
export async function withAuthors(
  moment: Moment,
  agent: string,
  messages: readonly ShownMessage[],
  taskOf: (n: number) => string | undefined,
): Promise<ShownMessage[]> {
  const author = async (message: ShownMessage): Promise<ShownMessage> => {
    const { from: sender, ...rest } = message;
    if (message.role !== 'user' || sender === undefined) return message;
    if (sender === HUMAN) return rest;
    if (sender !== agent) return { ...rest, from: await whoIn(moment, message) };
    const id = taskOf(message.n);
    const placed = id === undefined ? undefined : await moment.task(id);
    if (placed === undefined) return message;
    if (await isSentBack(moment, placed)) return { ...rest, isFromCheck: true };
    const from = (await wholeOf(moment, placed)).task.from;
    return defined({ ...rest, from: from === HUMAN ? undefined : from });
  };
  return Promise.all(messages.map(author));
}

/** The sender of a result is a task in the file, and its agent on the screen. */
async function whoIn(moment: Moment, { from, kind }: ShownMessage): Promise<string | undefined> {
  const placed = from === undefined || kind === undefined ? undefined : await moment.task(from);
  return placed === undefined ? from : (agentOf(placed) ?? from);
}

/** A later attempt follows a check that said no. */
async function isSentBack(moment: Moment, { task: { id, parent, role } }: Placed): Promise<boolean> {
  const attempt = Number(/\.work-(\d+)$/.exec(id)?.[1] ?? 1);
  if (parent === undefined || attempt < 2 || !roleFacts(role).isOwnWork) return false;
  const check = await moment.task(childId(parent, `check-${attempt - 1}`));
  return check !== undefined && roleFacts(check.task.role).prompt === 'check';
}

/** The task to which this stage of work belongs; the task itself if it is not a stage. */
async function wholeOf(moment: Moment, placed: Placed): Promise<Placed> {
  const { role, parent } = placed.task;
  const above = parent === undefined || !roleFacts(role).isOwnWork ? undefined : await moment.task(parent);
  return above === undefined ? placed : wholeOf(moment, above);
}
