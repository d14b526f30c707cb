/**
 * Real processes of one workspace, as people start them in terminals, and their faults: pauses,
 * kills and requests to stop.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import '../kit/trust/state.js';

export interface Terminal {
  readonly args: readonly string[];
  readonly child: ChildProcess;
  said: string;
  /** The test killed it or asked it to stop. */
  isSentAway: boolean;
  /** 0: not paused. */
  pausedUntil: number;
  readonly closed: Promise<number | null>;
}

export interface Crew {
  readonly all: readonly Terminal[];
  enter(args: readonly string[]): Terminal;
  pause(one: Terminal, ms: number): void;
  /** Resumes processes whose pause is over. */
  wake(): void;
  kill(one: Terminal): void;
  askToStop(one: Terminal): void;
  /** Asks all hosts to stop and waits for all processes; returns those that had to be killed. */
  leave(isHost: (one: Terminal) => boolean): Promise<Terminal[]>;
}

const MAIN = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../src/cli/main.js');
const PROGRAM = `import { main } from ${JSON.stringify(MAIN)}; process.exitCode = await main(process.argv.slice(1))`;
const PATIENCE_MS = 60_000;

export function crew(root: string): Crew {
  const all: Terminal[] = [];
  const resume = (one: Terminal): void => {
    one.child.kill('SIGCONT');
    one.pausedUntil = 0;
  };
  const askToStop = (one: Terminal): void => void (one.isSentAway = one.child.kill('SIGTERM') || one.isSentAway);
  return {
    all,
    enter(args) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, '--', ...args], {
        cwd: root,
        env: { PATH: process.env['PATH'], HOME: root, GUILD_STATE: process.env['GUILD_STATE'] },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const closed = new Promise<number | null>((done) => child.once('close', done));
      const one: Terminal = { args, child, said: '', isSentAway: false, pausedUntil: 0, closed };
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (one.said += String(data)));
      all.push(one);
      return one;
    },
    pause(one, ms) {
      one.child.kill('SIGSTOP');
      one.pausedUntil = Date.now() + ms;
    },
    wake() {
      for (const one of all) if (one.pausedUntil > 0 && Date.now() >= one.pausedUntil) resume(one);
    },
    kill: (one) => void (one.isSentAway = one.child.kill('SIGKILL') || one.isSentAway),
    askToStop,
    async leave(isHost) {
      for (const one of all.filter(isRunning)) {
        resume(one);
        if (isHost(one) && !one.isSentAway) askToStop(one); // a second one would stop it at once
      }
      const stuck: Terminal[] = [];
      for (const one of all) {
        const isGone = await Promise.race([one.closed.then(() => true), sleep(PATIENCE_MS, false, { ref: false })]);
        if (isGone) continue;
        stuck.push(one);
        one.child.kill('SIGKILL');
      }
      return stuck;
    },
  };
}

export function isRunning({ child }: Terminal): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** As a person would see it. */
export function howItEnded({ args, child }: Terminal): string {
  return `${args.join(' ')} ended with ${child.exitCode ?? child.signalCode}`;
}
