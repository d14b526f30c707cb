/** `guild ui`: the workspace in a browser. It reads and submits intents, as all surfaces do. */
import fs from 'node:fs';
import path from 'node:path';
import { farPartsOf, openReader } from '../../../app/readers/open-reader.js';
import { problemError } from '../../../domain/problem.js';
import { linkOf } from '../../../web/link.js';
import { startServer, type WindowServer } from '../../../web/server.js';
import { EXIT, integerOption, text, type Call, type Command } from '../../args/command.js';
import { onInterrupt } from '../../process/interrupt.js';
import { keepHeapSmall } from '../../process/small-heap.js';
import { LISTEN_OPTIONS, listeningOf } from './listening.js';
import { startWorker, type Worker } from './worker.js';

export const command: Command = {
  usage: 'ui',
  about: `
Shows the workspace in a browser: what waits for you, who works on what, tasks, conversations, agents, costs and history. It
listens on this machine only. The address that it prints works once, within a minute; press Enter for another one, or run
guild ui --link. A browser that has opened it stays signed in for a week, even if guild ui is restarted.

If no process works on the workspace, guild ui starts guild watch, and stops it on exit. The window shows the files and submits the same
requests as the command line: stop it at any time, and nothing is lost.

Other machines reach it only with --host, and only with TLS: a certificate of your own (--tls-cert, --tls-key), or a proxy
that has one (--behind-proxy).`,
  options: {
    port: { type: 'string', value: 'N', about: 'the port; 0, the default, takes the last one used, or a free one' },
    'read-only': { type: 'boolean', about: 'only show: nothing can be approved, changed or sent' },
    'no-work': { type: 'boolean', about: 'do not start guild watch' },
    link: { type: 'boolean', about: 'print another address of a window that is running' },
    cassette: { type: 'string', value: 'FILE', about: 'replay this recording and show its run' },
    ...LISTEN_OPTIONS,
    'behind-proxy': { type: 'string', value: 'NAME', about: 'the name under which a proxy with TLS serves the window' },
  },
  maxWords: 0,
  async run(call) {
    const { io, terminal, json, values } = call;
    const cassette = text(values, 'cassette');
    const root = cassette === undefined ? call.root : await replayed(call, path.resolve(io.cwd, cassette));
    const readOnly = values['read-only'] === true || cassette !== undefined;
    if (values['link'] === true) return anotherLink(call, readOnly);
    const port = integerOption(values, 'port', [0, 65_535]) ?? 0;
    const proxy = text(values, 'behind-proxy');
    const listening = listeningOf(values, proxy === undefined ? [] : [proxy]);
    keepHeapSmall();
    const isWorked = await isAnyoneWorking(root);
    let worker: Worker | undefined;
    const server = await startServer({
      root,
      env: io.env,
      port,
      readOnly,
      listening,
      worker: () => worker?.state() ?? null,
    });
    if (!isWorked && !readOnly && values['no-work'] !== true) worker = startWorker(root, io.env);
    const link = server.link();
    if (json) terminal.json({ url: link, port: server.port, worker: worker?.pid });
    else {
      terminal.out(link);
      terminal.say(terminal.dim(`${aboutWork(isWorked, worker)} ${io.stdin.isTTY ? HERE : ELSEWHERE}`));
    }
    await interrupted(call, server);
    await worker?.stop();
    await server.close();
    if (cassette !== undefined) fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    return EXIT.done;
  },
};

/** The workspace as it was at the end of the recording, in a new folder. */
async function replayed({ io, terminal }: Call, file: string): Promise<string> {
  // Loaded when needed: it brings the whole engine, which a window does not use.
  const { replayRun } = await import('../../../app/replay/replay-run.js');
  const { root, difference } = await replayRun(file, { env: io.env });
  if (difference !== undefined)
    terminal.say('The replay differs from the recording, because this version of guild works differently.');
  return root;
}

/** The server that is running accepts every token that has its signature. */
async function anotherLink({ root, io, terminal, json }: Call, readOnly: boolean): Promise<number> {
  const link = await linkOf(root, io.env, readOnly);
  if (link === undefined)
    throw problemError('not_found', 'no window of this workspace is open', {
      hint: `guild ui${readOnly ? ' --read-only' : ''}`,
    });
  if (json) terminal.json({ url: link });
  else terminal.out(link);
  return EXIT.done;
}

/**
 * `isInFolder`: only a process in this folder counts, because no other takes in its inbox. On a
 * store that machines share, nothing says in which folder a process works, so none counts.
 */
export async function isAnyoneWorking(root: string, { isInFolder = false } = {}): Promise<boolean> {
  const store = openReader(root);
  try {
    if (isInFolder && farPartsOf(store) !== undefined) return false;
    await store.tasks.scan();
    return (await store.presence.peers()).some((peer) => peer.id !== store.presence.peer.id);
  } finally {
    await store.close();
  }
}

function aboutWork(isWorked: boolean, worker: Worker | undefined): string {
  if (isWorked) return 'Another process works on this workspace.';
  if (worker === undefined) return 'No process works on this workspace.';
  return `guild watch works on this workspace (process ${worker.pid}).`;
}

const HERE = 'Enter prints a new address, Ctrl-C stops.';
/** Without a terminal nobody presses Enter. */
const ELSEWHERE = 'guild ui --link prints a new address.';

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
