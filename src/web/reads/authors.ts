/**
 * Who wrote the messages to an agent. The file names the sender of the task, and a stage of an
 * agent's own work is sent by the agent: a person wants to know who asked for the whole, or that a
 * check sent the answer back.
 */
import { defined } from '../../domain/defined.js';
import { childId } from '../../domain/task/id.js';
import { roleFacts } from '../../domain/task/role.js';
import { HUMAN, type Placed } from '../../domain/task/task.js';
import type { ShownMessage } from '../base/contract.js';
import type { Moment } from './moment.js';

/** `taskOf`: the task that begins with a message, where that is known. */
export async function withAuthors(
  moment: Moment,
  agent: string,
  messages: readonly ShownMessage[],
  taskOf: (message: ShownMessage) => string | undefined,
): Promise<ShownMessage[]> {
  const author = async (message: ShownMessage): Promise<ShownMessage> => {
    const { from: sender, ...rest } = message;
    if (message.role !== 'user' || sender === undefined) return message;
    if (sender !== agent) return sender === HUMAN ? rest : message;
    const id = taskOf(message);
    const placed = id === undefined ? undefined : await moment.task(id);
    if (placed === undefined) return message;
    if (await isSentBack(moment, placed)) return { ...rest, isFromCheck: true };
    const from = (await wholeOf(moment, placed)).task.from;
    return defined({ ...rest, from: from === HUMAN ? undefined : from });
  };
  return Promise.all(messages.map(author));
}

/** A later attempt follows a check that said no. */
async function isSentBack(moment: Moment, { task: { id, parent, role } }: Placed): Promise<boolean> {
  const attempt = Number(/\.work-(\d+)$/.exec(id)?.[1] ?? 1);
  if (parent === undefined || attempt < 2 || !roleFacts(role).isOwnWork) return false;
  const check = await moment.task(childId(parent, `check-${attempt - 1}`));
  return check !== undefined && roleFacts(check.task.role).prompt === 'check';
}

/** The task whose own work this is; itself if it is none. */
async function wholeOf(moment: Moment, placed: Placed): Promise<Placed> {
  const { role, parent } = placed.task;
  const above = parent === undefined || !roleFacts(role).isOwnWork ? undefined : await moment.task(parent);
  return above === undefined ? placed : wholeOf(moment, above);
}
