/**
 * Runs plugin actions: scripts such as `plugins/slack/actions/reply.mjs` that act on the outside
 * world. An agent requests one like any command. After approval it runs as the user's own code: in
 * the workspace, outside the sandbox, with the keys its plugin needs. No shell parses its
 * arguments.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Env } from '../../domain/config/env.js';
import type { Shell, ShellOutcome, ShellRun } from '../../ports/shell.js';

interface ActionsOptions {
  root: string;
  env: Env;
  /** Folder of the built-in plugins. */
  builtIn: string;
  /** Folder of the workspace's own plugins, as a person has trusted them. */
  own?: string;
}

/** Wraps a shell so that it also runs actions. */
export function actions(shell: Shell, options: ActionsOptions): Shell {
  return {
    ...shell,
    run: (run) => ('action' in run.what ? runAction(options, run, run.what.action) : shell.run(run)),
  };
}

async function runAction(
  options: ActionsOptions,
  run: ShellRun,
  action: { file: string; args: string[] },
): Promise<ShellOutcome> {
  const file = findAction(options, action.file);
  if (file === undefined) return { kind: 'not_started', reason: `unknown action ${action.file}` };
  const child = spawn(process.execPath, [file, ...action.args], {
    cwd: options.root,
    env: envFor(options),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  let cut = false;
  const collect = (chunk: Buffer): void => {
    if (output.length < run.maxOutputBytes) output += chunk.toString('utf8');
    else cut = true;
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  let killed: 'time-out' | 'cancel' | undefined;
  const kill = (by: 'time-out' | 'cancel') => (): void => {
    killed ??= by;
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // The process has already exited.
    }
  };
  const timer = setTimeout(kill('time-out'), run.timeoutMs);
  const cancel = kill('cancel');
  run.signal?.addEventListener('abort', cancel, { once: true });
  const ended = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, error }));
    child.once('close', (code) => resolve({ code }));
  });
  clearTimeout(timer);
  run.signal?.removeEventListener('abort', cancel);
  if (ended.error) return { kind: 'not_started', reason: ended.error.message };
  if (killed) return { kind: 'killed', by: killed, output, cut };
  return ended.code === null
    ? { kind: 'killed', by: 'signal', output, cut }
    : { kind: 'exited', code: ended.code, output, cut };
}

/** A built-in name always means the built-in plugin. Never returns a file outside both folders. */
function findAction({ builtIn, own }: ActionsOptions, name: string): string | undefined {
  if (!ACTION.test(name)) return undefined;
  for (const base of [builtIn, ...(own === undefined ? [] : [own])]) {
    const file = path.join(base, name.slice('plugins/'.length));
    try {
      const real = fs.realpathSync(file);
      if (real.startsWith(fs.realpathSync(base) + path.sep) && fs.statSync(real).isFile()) return real;
    } catch {
      // Missing here; try the next folder.
    }
  }
  return undefined;
}

const ACTION = /^plugins\/[A-Za-z0-9_-]+\/actions\/[A-Za-z0-9_-]+\.mjs$/;

/** Passes only the variables a program needs to run, and the keys of chat services. */
function envFor({ root, env }: ActionsOptions): Record<string, string> {
  const names = Object.keys(env).filter((name) =>
    /^(PATH|HOME|LANG|LC_\w+|TZ|SLACK_\w+|NODE_EXTRA_CA_CERTS)$/.test(name),
  );
  return { ...Object.fromEntries(names.map((name) => [name, env[name] ?? ''])), GUILD_WORKSPACE: root };
}
