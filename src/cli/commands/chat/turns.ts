/** Starts, stops and shows the tasks of a chat, and hands them to another process when it ends. */
import { spawn } from 'node:child_process';
import { openDesk } from '../../../app/approvals.js';
import type { Workspace } from '../../../app/index.js';
import { pauseTask, resumeTask } from '../../../app/pause.js';
import { problem } from '../../../domain/problem.js';
import { isEnded, type Placed, type Task } from '../../../domain/task/task.js';
import { EXIT, type Call } from '../../args/command.js';
import type { Keyboard } from '../../console/keyboard.js';
import { walk } from '../../console/walk.js';
import type { RunNarrator } from '../../render/narrator.js';
import { summary } from '../../../views/summary.js';
import { oneLine, wrappedLines } from '../../render/layout.js';
import { costText } from '../task/show.js';

export interface Chat {
  call: Call;
  /** Replaced after an undo. */
  workspace: Workspace;
  open(): Promise<Workspace>;
  keyboard: Keyboard;
  narration: RunNarrator;
  /** The agent that gets the next message. */
  agent: string;
  last: Map<string, string>;
  /** The task whose words are printed as they come. */
  now: { id?: string };
  /** The tasks that have not ended or stopped. */
  works: Map<string, Work>;
  stopped: Set<string>;
  /** Files that were pasted into the message that the person is typing. */
  pasted: Set<string>;
  /** Agents whose next message goes to a copy of the conversation. */
  forks: Set<string>;
}

interface Work {
  stop: AbortController;
  /** Resolves when the task has ended or waits. */
  done: Promise<Placed>;
  isDone: boolean;
}

export function start({ workspace, now, works, stopped }: Chat, id: string): void {
  now.id = id;
  stopped.delete(id);
  const stop = new AbortController();
  const done = workspace.finish(id, stop.signal);
  const work: Work = { stop, done, isDone: false };
  const mark = (): void => void (work.isDone = true);
  done.then(mark, mark);
  works.set(id, work);
}

/** Ctrl-C. The tasks are paused, so that no other process continues them. */
export async function stopTurns(chat: Chat): Promise<void> {
  const { call, works, stopped } = chat;
  const ids = [...works.keys()];
  for (const id of ids) await pauseTask(call.root, id, 'stopped with Ctrl-C');
  await stopWorking(chat);
  for (const id of ids) {
    const placed = await chat.workspace.task(id);
    if (placed !== undefined && isEnded(placed.state)) {
      await resumeTask(call.root, id);
      await ended(chat, placed);
    } else stopped.add(id);
  }
  if (stopped.size > 0)
    call.terminal.say(call.terminal.dim('stopped; your next message continues it, and so does Enter'));
}

/** Stops the work of this process; the tasks stay as they are. */
async function stopWorking({ workspace, works }: Chat): Promise<void> {
  for (const { stop } of works.values()) stop.abort();
  for (const flight of workspace.engine.flights.values()) flight.stop.abort();
  for (const { done } of works.values()) await done.catch(() => undefined);
  works.clear();
}

/** The next task to work on: one that an answer released, or a message that came too late. */
export async function ended(chat: Chat, { task, state }: Placed): Promise<string | undefined> {
  const { call, narration, keyboard, now } = chat;
  const { terminal } = call;
  terminal.endStream();
  if (task.id !== now.id) terminal.say(terminal.bold(`${task.to}:`));
  if (isEnded(state)) {
    if (state === 'failed') terminal.problem(task.error ?? problem('bug', 'it failed without a reason'));
    else if (task.id !== now.id || !narration.hasShown(task.result ?? ''))
      for (const line of wrappedLines(task.result ?? '', terminal.width)) terminal.out(line);
    if (task.usage && task.usage.turns > 0) terminal.say(terminal.dim(costText(task.usage)));
    return unreadMessage(chat, task);
  }
  const desk = await openDesk(call.root, call.io.env);
  try {
    const asking = { io: call.io, terminal, keyboard };
    const { answered, left } = await walk(desk, asking, (request) => request.root === task.root);
    if (answered.length > 0 && !left) return task.id;
    terminal.say(terminal.dim('it waits for you; guild inbox shows everything that waits'));
    return undefined;
  } finally {
    await desk.close();
  }
}

/** Messages that the agent did not read before it ended start the next turn. */
async function unreadMessage({ workspace, last }: Chat, task: Task): Promise<string | undefined> {
  const { intents } = workspace.store;
  const late = (await intents.list()).flatMap((intent) =>
    intent.kind === 'tell' && intent.task === task.id ? [intent] : [],
  );
  if (late.length === 0) return undefined;
  const next = await workspace.followUp(task.id, late.map(({ text }) => text).join('\n\n'));
  for (const { id } of late) await intents.done(id);
  last.set(task.to!, next.id);
  return next.id;
}

/** The tasks continue in another process, or in new ones if none is running. */
export async function leave(chat: Chat): Promise<number> {
  const { call, workspace, works, stopped } = chat;
  const ids = [...works.keys()];
  await stopWorking(chat);
  const others = (await workspace.peers()).filter((peer) => peer.id !== workspace.store.presence.peer.id);
  for (const id of ids) {
    if (others.length === 0) {
      const args = [process.argv[1]!, 'run', '-c', id, '--quiet', '--workspace', call.root];
      spawn(process.execPath, args, { detached: true, stdio: 'ignore', env: call.io.env }).unref();
    }
    call.terminal.say(
      `${await named(chat, id)} continues ${others.length > 0 ? 'in the running guild' : 'in the background'}; guild chat -c shows it`,
    );
  }
  for (const id of stopped)
    call.terminal.say(`${await named(chat, id)} is paused; guild chat -c or guild run -c ${id} continues it`);
  return EXIT.done;
}

async function named({ workspace }: Chat, id: string): Promise<string> {
  const placed = await workspace.task(id);
  return placed === undefined ? id : `“${oneLine(summary(placed.task), 40)}”`;
}
