/** `guild watch`: works until it is stopped. Idle, it costs nothing: no model is called while nothing changes. */
import { openWorkspace } from '../app/index.js';
import { EXIT, type Call, type Command } from './command.js';
import { onInterrupt } from './interrupt.js';
import { liveView } from './live-view.js';
import { narrator } from './narrator.js';

export const command: Command = {
  help: `guild watch

Works on the workspace until you stop it (Ctrl-C): takes tasks, goes on with those whose waiting is over, picks up what
a lost process left. Several can run on one workspace; they share the work.
On a terminal it draws the tree of what is going on; in a pipe it writes a line for each change.`,
  most: 0,
  run: (call) => host(call, undefined),
};

/** Hosts all agents, or only these. */
export async function host(call: Call, agents: string[] | undefined): Promise<number> {
  const view = call.terminal.live ? liveView(call.terminal) : narrator(call);
  const workspace = await (call.open ?? openWorkspace)(call.root, { watchers: view, ...(agents ? { agents } : {}) });
  for (const one of workspace.configProblems) call.terminal.problem(one);
  const { problems } = workspace.check();
  for (const one of problems) call.terminal.problem(one);
  const stop = new AbortController();
  const off = onInterrupt(() => {
    view.close();
    call.terminal.say('stopping; tasks are put back (Ctrl-C again to leave at once)');
    stop.abort();
  });
  const names = agents ?? [...workspace.agents().keys()];
  call.terminal.say(
    call.terminal.dim(
      `watching ${call.root} for ${names.length} ${names.length === 1 ? 'agent' : 'agents'} (Ctrl-C stops)`,
    ),
  );
  try {
    await workspace.watch(stop.signal);
    return EXIT.done;
  } finally {
    off();
    view.close();
    await workspace.close();
  }
}
