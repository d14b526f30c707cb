/**
 * Actions of plugins: scripts like `plugins/slack/actions/reply.mjs` that a person has put there to act on the world. An agent
 * asks for one as for any command; once a human agreed, it runs as what it is, the human's own code: in the workspace,
 * with the keys its plugin needs, outside of the sandbox. Its words are passed as they are; no shell reads them.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Shell, ShellOutcome, ShellRun } from '../../ports/shell.js';

export interface ActionsGiven {
  root: string;
  env: Record<string, string | undefined>;
  /** Where the plugins that come with the program lie. */
  builtIn: string;
}

/** A shell that also runs actions. */
export function actions(shell: Shell, given: ActionsGiven): Shell {
  return {
    ...shell,
    run: (run) => ('action' in run.what ? runAction(given, run, run.what.action) : shell.run(run)),
  };
}

async function runAction(
  given: ActionsGiven,
  run: ShellRun,
  action: { file: string; args: string[] },
): Promise<ShellOutcome> {
  const file = findAction(given, action.file);
  if (file === undefined) return { kind: 'not_started', reason: `there is no action ${action.file}` };
  const began = performance.now();
  const child = spawn(process.execPath, [file, ...action.args], {
    cwd: given.root,
    env: envFor(given),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let cut = false;
  const take = (chunk: Buffer): void => {
    if (output.length < run.maxOutputBytes) output += chunk.toString('utf8');
    else cut = true;
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  let killed: 'time-out' | 'cancel' | undefined;
  const end = (by: 'time-out' | 'cancel') => (): void => {
    killed ??= by;
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // it has ended already
    }
  };
  const timer = setTimeout(end('time-out'), run.timeoutMs);
  const cancel = end('cancel');
  run.signal?.addEventListener('abort', cancel, { once: true });
  const ended = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }));
    child.once('close', (code) => resolve({ code }));
  });
  clearTimeout(timer);
  run.signal?.removeEventListener('abort', cancel);
  const ms = performance.now() - began;
  if (ended.error) return { kind: 'not_started', reason: ended.error.message };
  if (killed) return { kind: 'killed', by: killed, output, cut, ms };
  return ended.code === null
    ? { kind: 'killed', by: 'signal', output, cut, ms }
    : { kind: 'exited', code: ended.code, output, cut, ms };
}

/** The workspace's own plugin first, then the one that comes with the program. Never anything outside of the two folders. */
function findAction({ root, builtIn }: ActionsGiven, name: string): string | undefined {
  if (!ACTION.test(name)) return undefined;
  for (const [base, file] of [
    [path.join(root, 'plugins'), path.join(root, name)],
    [builtIn, path.join(builtIn, name.slice('plugins/'.length))],
  ] as const) {
    try {
      const real = fs.realpathSync(file);
      if (real.startsWith(fs.realpathSync(base) + path.sep) && fs.statSync(real).isFile()) return real;
    } catch {
      // not there
    }
  }
  return undefined;
}

const ACTION = /^plugins\/[A-Za-z0-9_-]+\/actions\/[A-Za-z0-9_-]+\.mjs$/;

/** Only what a program needs to run, and the keys of chat services. */
function envFor({ root, env }: ActionsGiven): Record<string, string> {
  const names = Object.keys(env).filter((name) =>
    /^(PATH|HOME|LANG|LC_\w+|TZ|SLACK_\w+|NODE_EXTRA_CA_CERTS)$/.test(name),
  );
  return { ...Object.fromEntries(names.map((name) => [name, env[name] ?? ''])), GUILD_WORKSPACE: root };
}
