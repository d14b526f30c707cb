/** `guild ui`: the workspace in a browser. It reads and submits intents, as all surfaces do. */
import { openReader } from '../../../app/readers/open-reader.js';
import { problem, ProblemError } from '../../../domain/problem.js';
import { startServer, type WindowServer } from '../../../web/server.js';
import { EXIT, text, type Call, type Command } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';
import { startWorker, type Worker } from './worker.js';

export const command: Command = {
  usage: 'ui',
  about: `
Shows the workspace in a browser: what waits for you, who works on what, tasks, conversations, agents, costs and history. It
listens on this machine only. The address that it prints works once, within a minute; press Enter for another one.

If no process works on the workspace, it starts guild watch and stops it at its end. It shows the files and submits the same
requests as the command line: stop it at any time, and nothing is lost.`,
  options: {
    port: { type: 'string', value: 'N', about: 'the port; default: a free one' },
    'read-only': { type: 'boolean', about: 'only show: nothing can be approved, changed or sent' },
    'no-work': { type: 'boolean', about: 'do not start guild watch' },
  },
  maxWords: 0,
  async run(call) {
    const { root, io, terminal, json, values } = call;
    const readOnly = values['read-only'] === true;
    const port = portOf(text(values, 'port'));
    const isWorked = await isAnyoneWorking(root);
    let worker: Worker | undefined;
    const server = await startServer({ root, env: io.env, port, readOnly, worker: () => worker?.state() ?? null });
    if (!isWorked && !readOnly && values['no-work'] !== true) worker = startWorker(root, io.env);
    const link = server.link();
    if (json) terminal.json({ url: link, port: server.port, worker: worker?.pid });
    else {
      terminal.out(link);
      terminal.say(terminal.dim(aboutWork(isWorked, worker)));
    }
    await interrupted(call, server);
    await worker?.stop();
    await server.close();
    return EXIT.done;
  },
};

export async function isAnyoneWorking(root: string): Promise<boolean> {
  const store = openReader(root);
  try {
    return (await store.presence.peers()).some((peer) => peer.id !== store.presence.peer.id);
  } finally {
    await store.close();
  }
}

function aboutWork(isWorked: boolean, worker: Worker | undefined): string {
  const who = isWorked
    ? 'Another process works on this workspace.'
    : worker === undefined
      ? 'No process works on this workspace.'
      : `guild watch works on this workspace (process ${worker.pid}).`;
  return `${who} Enter prints a new address, Ctrl-C stops.`;
}

/** Until Ctrl-C or a signal. Each Enter prints a new address, because one works only once. */
function interrupted({ io, terminal }: Call, server: WindowServer): Promise<void> {
  return new Promise((resolve) => {
    const heard = (): void => terminal.out(server.link());
    const off = onInterrupt(io, () => {
      off();
      if (io.stdin.isTTY) {
        io.stdin.off('data', heard);
        io.stdin.pause();
      }
      resolve();
    });
    if (!io.stdin.isTTY) return;
    io.stdin.on('data', heard);
    io.stdin.resume();
  });
}

function portOf(value: string | undefined): number {
  if (value === undefined) return 0;
  const port = Number(value);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new ProblemError(problem('bad_usage', `--port is a number from 1 to 65535, not ${JSON.stringify(value)}`));
}
