/**
 * Shows the requests of tasks to the person while this process keeps working: the request is
 * printed once, and its keys are below the tree of open work. Ctrl-C reaches the caller.
 */
import { openDesk, type Desk } from '../../app/approvals.js';
import type { Workspace } from '../../app/index.js';
import type { Call } from '../args/command.js';
import type { LiveView } from '../render/live-view.js';
import { redirected } from '../render/redirected.js';
import type { Asking } from './ask-request.js';
import { openKeyboard } from './keyboard.js';
import { walk } from './walk.js';

export interface Attendance {
  /** Something has changed: there may be a request. */
  look(): void;
  /** Releases the keyboard. */
  close(): Promise<void>;
}

/** `leave`: the person pressed Ctrl-C. */
export async function attend(call: Call, workspace: Workspace, view: LiveView, leave: () => void): Promise<Attendance> {
  const { io } = call;
  const desk = await openDesk(call.root, io.env, workspace.store);
  const keyboard = openKeyboard(io.stdin, io.stderr);
  const closing = new AbortController();
  /** Requests that the person skipped or answered. */
  const passed = new Set<string>();
  let news = new AbortController();
  // Prompts are drawn below the tree.
  const terminal = redirected(call.terminal, { dock: view.footer });
  const lend: NonNullable<Asking['lend']> = async (work) => {
    view.suspend();
    try {
      return await work();
    } finally {
      view.resume();
    }
  };
  const asking = { io, terminal, keyboard, lend, isUnbidden: true };
  const done = attending();
  return {
    look() {
      if (waiting(desk, passed)) news.abort();
    },
    async close() {
      closing.abort();
      news.abort();
      keyboard.close();
      await done;
    },
  };

  async function attending(): Promise<void> {
    while (!closing.signal.aborted) {
      if (waiting(desk, passed)) await ask();
      else await idle();
    }
  }

  async function ask(): Promise<void> {
    const { left } = await walk(desk, { ...asking, closing: closing.signal }, ({ id }) => !passed.has(id), passed);
    view.footer([]);
    if (left && !closing.signal.aborted) leave();
  }

  /** Other keys have no meaning here. */
  async function idle(): Promise<void> {
    news = new AbortController();
    const key = await keyboard.next(news.signal);
    if (key?.name === 'interrupt') leave();
    // The terminal is gone, so nobody can be asked.
    if (key === undefined && !news.signal.aborted) closing.abort();
  }
}

function waiting(desk: Desk, passed: ReadonlySet<string>): boolean {
  return desk.list().some(({ id }) => !passed.has(id));
}
