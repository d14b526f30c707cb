/**
 * Works on tasks until they end or wait for something outside this process, and shows their
 * requests to the person.
 */
import { openDesk, type OpenRequest } from '../../app/approvals.js';
import type { Workspace } from '../../app/index.js';
import { HUMAN, isEnded, type Placed } from '../../domain/task/task.js';
import type { Call } from '../args/command.js';
import { wrappedLines } from '../render/layout.js';
import { hasPerson } from '../process/ask.js';
import { untilInterrupt } from '../process/interrupt.js';
import { narrator, type RunNarrator } from '../render/narrator.js';
import { openKeyboard } from './keyboard.js';
import { walk } from './walk.js';

export interface Carried {
  placed: Placed;
  /** The person left at a prompt. */
  left: boolean;
}

/** Works on one root; asks only for its own tree. */
export async function carryOn(
  call: Call,
  workspace: Workspace,
  narration: RunNarrator,
  root: string,
  signal: AbortSignal,
): Promise<Carried> {
  const skipped = new Set<string>();
  for (;;) {
    const placed = await workspace.finish(root, signal);
    if (isEnded(placed.state) || signal.aborted || !canAsk(call)) return { placed, left: false };
    const isWanted = (request: OpenRequest): boolean => request.root === root && !skipped.has(request.id);
    narration.suspend();
    const walked = await ask(call, isWanted, skipped);
    if (walked.left) return { placed, left: true };
    if (walked.answered.length === 0) return { placed, left: false };
    narration.resume();
  }
}

export function canAsk(call: Call): boolean {
  return call.terminal.live && hasPerson(call.io);
}

async function ask(
  call: Call,
  isWanted: (request: OpenRequest) => boolean,
  skipped: Set<string>,
): Promise<{ answered: string[]; left: boolean }> {
  const desk = await openDesk(call.root, call.io.env);
  const keyboard = openKeyboard(call.io.stdin, call.io.stderr);
  try {
    const walked = await walk(desk, { io: call.io, terminal: call.terminal, keyboard }, isWanted);
    for (const request of desk.list()) if (isWanted(request)) skipped.add(request.id);
    return walked;
  } finally {
    keyboard.close();
    await desk.close();
  }
}

/**
 * Works on the task that an answer released, until it ends or waits again, unless another process
 * works on it. Says which process works on it. `asks`: the caller shows new requests afterwards.
 */
export async function carryOnReleased(call: Call, answered: readonly string[], asks = false): Promise<void> {
  if (answered.length === 0) return;
  const { terminal } = call;
  const desk = await openDesk(call.root, call.io.env);
  const isWorking = await desk.isWorking();
  await desk.close();
  if (isWorking) return terminal.say(terminal.dim('the running guild carries on with it'));
  terminal.say(terminal.dim('carrying on here (Ctrl-C stops)'));
  const narration = narrator({ ...call, asks });
  const workspace = await call.open(call.root, { watchers: narration });
  narration.know(workspace);
  try {
    await untilInterrupt(call.io, workspace, async (signal) => {
      // Takes in the answer first, because the task that it allows may not exist yet.
      await workspace.engine.pump(new Set());
      for (const root of new Set(answered.flatMap((id) => [id, id.replace(/\.admit$/, '')]))) {
        const placed = await workspace.task(root);
        if (placed !== undefined && !isEnded(placed.state) && placed.task.to !== HUMAN && !signal.aborted)
          showEnd(call, await workspace.finish(root, signal));
      }
    });
  } finally {
    narration.close();
    await workspace.close();
  }
}

function showEnd({ terminal }: Call, { task, state }: Placed): void {
  if (state === 'failed' && task.error) terminal.problem(task.error);
  else if (state === 'completed')
    for (const line of wrappedLines(task.result ?? '', terminal.width)) terminal.out(line);
}
