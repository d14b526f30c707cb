/** `guild chat -c`: shows where the conversation stopped, and follows it if it has not ended. */
import { readPaused } from '../../../app/pause.js';
import { problem } from '../../../domain/problem.js';
import { isEnded, type Placed } from '../../../domain/task/task.js';
import { summary } from '../../../views/summary.js';
import { oneLine, wrappedLines } from '../../render/layout.js';
import { start, type Chat } from './turns.js';

/** Enough to recall the conversation; the whole answer is in its file. */
const MAX_LINES = 12;

export async function greet(chat: Chat, { task, state }: Placed): Promise<void> {
  const { call, workspace } = chat;
  const { terminal } = call;
  chat.last.set(chat.agent, task.id);
  terminal.say(
    `${terminal.colour('cyan', '›')} ${oneLine(summary({ ...task, result: undefined }), terminal.width - 3)}`,
  );
  if (state === 'failed') terminal.problem(task.error ?? problem('bug', 'it failed without a reason'));
  else if (isEnded(state)) {
    const lines = wrappedLines(task.result ?? '', terminal.width);
    for (const line of lines.slice(0, MAX_LINES)) terminal.out(line);
    if (lines.length > MAX_LINES)
      terminal.say(terminal.dim(`… ${lines.length - MAX_LINES} more lines in results/${task.id}.md`));
  } else if ((await readPaused(call.root, workspace.store)).tasks.has(task.root)) {
    chat.stopped.add(task.id);
    terminal.say(terminal.dim('it was stopped; your next message continues it, and so does Enter'));
  } else if (state === 'waiting' || (state === 'active' && (await isWorkedOn(chat)))) start(chat, task.id);
  else terminal.say(terminal.dim('it has not ended; your next message continues it, and so does Enter'));
}

async function isWorkedOn({ workspace }: Chat): Promise<boolean> {
  return (await workspace.peers()).some(({ id }) => id !== workspace.store.presence.peer.id);
}
