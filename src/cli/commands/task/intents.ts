/**
 * `guild task cancel`, `stop`, `retry`, `assign` and `tell`. A running `guild watch` acts at once,
 * otherwise the next pump does.
 */
import { randomBytes } from 'node:crypto';
import { resumeTask } from '../../../app/pause.js';
import { openRoster } from '../../../app/readers/open-roster.js';
import { openReader } from '../../../app/readers/open-reader.js';
import { asProblem, ProblemError, problemError } from '../../../domain/problem.js';
import { isEnded } from '../../../domain/task/task.js';
import { assignProblem } from '../../../rules/scheduling/assign.js';
import { EXIT, type Call } from '../../args/command.js';
import { idOf, unknownTask } from './id.js';

type Kind = 'cancel' | 'stop' | 'retry' | 'assign' | 'tell';

export async function submit(kind: Kind, call: Call): Promise<number> {
  const task = idOf(call, `task ${kind}`);
  const message = call.words.slice(1).join(' ');
  const store = openReader(call.root);
  const placed = await store.tasks.read(task);
  if (placed === undefined) throw new ProblemError(unknownTask(task, call.root));
  if (kind === 'retry' && !isEnded(placed.state) && (await resumeTask(call.root, placed.task.root))) {
    call.terminal.say(`${task} continues; guild watch or guild run -c works on it`);
    return EXIT.done;
  }
  const objection = unfit(kind, placed.state, message);
  if (objection) throw problemError('bad_usage', `${task} ${objection}`);
  const wrong = kind === 'assign' && assignProblem(task, placed, message, openRoster(call.root).agents.keys());
  if (wrong) throw new ProblemError(wrong);
  const base = { id: randomBytes(6).toString('hex'), task, by: 'human', at: new Date().toISOString() };
  if (kind === 'tell') await store.intents.submit({ ...base, kind, text: message });
  else if (kind === 'assign') await store.intents.submit({ ...base, kind, to: message });
  else if (kind === 'cancel') await store.intents.submit({ ...base, kind, reason: message || undefined });
  else await store.intents.submit({ ...base, kind });
  const working = (await store.presence.peers()).some((peer) => peer.id !== store.presence.peer.id);
  await store.close();
  if (call.json) call.terminal.json({ intent: base.id, kind, task });
  else
    call.terminal.say(
      working ? `${kind}: passed to the running guild` : `${kind}: saved; the next guild pump or guild watch does it`,
    );
  return EXIT.done;
}

/** Retries these tasks. One that cannot be retried is reported and does not stop the others. */
export async function retryAll(call: Call): Promise<number> {
  if (call.words.length < 2) return submit('retry', call);
  let code: number = EXIT.done;
  for (const word of call.words) {
    try {
      await submit('retry', { ...call, words: [word] });
    } catch (thrown) {
      call.terminal.problem(asProblem(thrown));
      code = EXIT.problem;
    }
  }
  return code;
}

function unfit(kind: Kind, state: Parameters<typeof isEnded>[0], message: string): string | undefined {
  if (kind === 'retry') return state === 'failed' ? undefined : `is ${state}; only failed tasks can be retried`;
  if (kind === 'assign') return message === '' ? 'needs the name of an agent' : undefined;
  if (kind === 'tell') return message === '' ? 'needs a message' : undefined;
  return isEnded(state) ? `has ended (${state})` : undefined;
}
