/**
 * Ctrl-C in `guild run`: the work stops, and the person decides whether the task is kept. A kept
 * task is paused, so that no other process spends money on it.
 */
import type { Workspace } from '../../../app/index.js';
import { pauseTask, resumeTask } from '../../../app/pause.js';
import { isEnded, type Placed } from '../../../domain/task/task.js';
import { EXIT, type Call } from '../../args/command.js';
import { canAsk, type Carried } from '../../console/carry-on.js';
import { openKeyboard } from '../../console/keyboard.js';

interface Stopped {
  placed: Placed;
  isStopped: boolean;
}

export async function untilStopped(
  { io, root }: Call,
  workspace: Workspace,
  id: string,
  work: (signal: AbortSignal) => Promise<Carried>,
): Promise<Stopped> {
  const stop = new AbortController();
  let count = 0;
  let isPaused: Promise<unknown> | undefined;
  const stopWork = (): void => {
    // Pauses the task before releasing it, because another process would take it otherwise.
    isPaused ??= pauseTask(root, id, 'stopped with Ctrl-C').finally(() => {
      stop.abort();
      void workspace.engine.stop();
    });
  };
  const off = io.onInterrupt(() => {
    if (++count > 1) void cancelNow(workspace, id).finally(() => io.exit(EXIT.interrupted));
    else stopWork();
  });
  try {
    const carried = await work(stop.signal);
    if (carried.left && !isEnded(carried.placed.state)) stopWork();
    await isPaused;
    const placed = (await workspace.task(id)) ?? carried.placed;
    return { placed, isStopped: isPaused !== undefined && !isEnded(placed.state) };
  } finally {
    off();
  }
}

/** Asks once. Without a person, the task is cancelled. */
export async function keepOrCancel(call: Call, workspace: Workspace, { task }: Placed): Promise<number> {
  const { terminal } = call;
  const isKept = canAsk(call) && (await wantsToKeep(call));
  if (isKept)
    terminal.say(`${task.id} is kept and paused; guild run -c continues it, guild task cancel ${task.id} ends it`);
  else {
    await resumeTask(call.root, task.id);
    await cancelNow(workspace, task.id);
    terminal.say(`${task.id} is cancelled`);
  }
  return EXIT.interrupted;
}

async function wantsToKeep({ terminal, io }: Call): Promise<boolean> {
  const keyboard = openKeyboard(io.stdin, io.stderr);
  try {
    for (;;) {
      terminal.dock([terminal.bold('Stopped. k keeps the task for later, c cancels it')], { row: 0, column: 0 });
      const key = await keyboard.next();
      if (key === undefined || key.name === 'interrupt' || key.name === 'end') return false;
      if (key.name === 'enter') return true;
      if (key.name !== 'text') continue;
      if (/k/i.test(key.text)) return true;
      if (/c/i.test(key.text)) return false;
    }
  } finally {
    terminal.dock([]);
    keyboard.close();
  }
}

async function cancelNow(workspace: Workspace, id: string): Promise<void> {
  await workspace.cancel(id, 'stopped with Ctrl-C');
  await workspace.pump();
}
