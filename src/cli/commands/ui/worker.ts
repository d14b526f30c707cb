/** `guild watch` as a child process, which stops when the window stops, also if that is killed. */
import { spawn } from 'node:child_process';
import type { Env } from '../../../domain/config/env.js';
import { keysOfNextStart } from '../../../app/live-config.js';
import type { Hello } from '../../../web/base/contract.js';

export interface Worker {
  pid: number;
  state(): Hello['worker'];
  /** Asks it to stop, and waits for its end. */
  stop(): Promise<void>;
}

const LAST_LINES = 3;

export function startWorker(root: string, env: Env): Worker {
  const child = spawn(process.execPath, [process.argv[1]!, 'watch', '--workspace', root], {
    env,
    // The end of the channel tells it that this process is gone.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const later = keysOfNextStart(root, env);
  let output = '';
  let ended: string | undefined;
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text)
      .split('\n')
      .slice(-LAST_LINES - 1)
      .join('\n');
  });
  const gone = new Promise<void>((resolve) =>
    child.once('exit', (code, signal) => {
      ended = output.trim() || `exit code ${code ?? signal}`;
      resolve();
    }),
  );
  return {
    pid: child.pid ?? 0,
    state: () => (ended === undefined ? { pid: child.pid ?? 0, later: later() } : { ended }),
    async stop() {
      if (ended === undefined) child.kill('SIGINT');
      await gone;
    },
  };
}
