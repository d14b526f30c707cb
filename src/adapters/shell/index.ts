/**
 * Commands on this machine. Each runs in `workspaces/<agent>/` with a clean environment and no input, sandboxed where bubblewrap
 * works, and leaves a commit of that folder. What the gate let through runs by its words; what a human approved runs as
 * Bash text. See `shell/confine.ts` for what holds a command in, and `shell/running.ts` for how it is ended.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isSafeId } from '../../domain/task/id.js';
import type { Clock } from '../../ports/clock.js';
import type { Rollback, Shell, ShellOutcome, ShellRun, ShellTrace } from '../../ports/shell.js';
import { agentGit } from './agent-git.js';
import {
  cleanEnv,
  confine,
  DEFAULT_LIMITS,
  isRealFolder,
  PATH,
  type Confine,
  type Ground,
  type Limits,
} from './confine.js';
import { Running, type Ended } from './running.js';
import { pipes } from './pipes.js';
import { BASH, pipesBetween, runPlan } from './plan.js';

export interface ShellOptions {
  root: string;
  /** `GUILD_SANDBOX=off` does without a sandbox. Nothing of it reaches a command. */
  env?: Record<string, string | undefined>;
  clock?: Pick<Clock, 'monotonicMs'>;
  limits?: Partial<Limits>;
}

export function shell({ root, env = {}, clock, limits: given }: ShellOptions): Shell {
  const limits = { ...DEFAULT_LIMITS, ...given };
  const now = (): number => clock?.monotonicMs() ?? performance.now();
  const turns = new Map<string, Promise<unknown>>();
  let probed: Confine | undefined;
  const confined = (): Confine => (probed ??= confine({ isOff: env['GUILD_SANDBOX'] === 'off', limits }));

  return {
    run: (run) => inTurn(run.agent, () => runOne(run)),
    rollback: (agent, commit) =>
      inTurn(agent, async (): Promise<Rollback> => {
        const ground = groundOf(root, agent);
        if (typeof ground === 'string') return { ok: false, reason: ground };
        const git = agentGit(confined());
        await git.prepare(ground);
        return git.rollback(ground, commit);
      }),
    confinement: (network) => inWords(confined(), network),
    isSandboxed: () => confined().isSandboxed,
  };

  function inTurn<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const done = (turns.get(agent) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => undefined);
    turns.set(agent, settled);
    void settled.then(() => turns.get(agent) === settled && turns.delete(agent));
    return done;
  }

  async function runOne(run: ShellRun): Promise<ShellOutcome> {
    if (run.signal?.aborted) return { kind: 'killed', by: 'cancel', output: '', cut: false, ms: 0 };
    if ('action' in run.what) return { kind: 'not_started', reason: 'actions of plugins are not run as commands' };
    const ground = groundOf(root, run.agent);
    if (typeof ground === 'string') return { kind: 'not_started', reason: ground };
    const git = agentGit(confined());
    const notes = [await git.prepare(ground)];
    // What file tools wrote since the last command is not this command's doing.
    if ('script' in run.what) notes.push((await git.commit(ground, 'Between commands')).note);
    const outcome = await carryOut(run, ground);
    if (outcome.kind === 'not_started') return outcome;
    const trace = await git.commit(ground, message(run, outcome));
    return { ...outcome, ...withNotes(trace, notes) };
  }

  async function carryOut(run: ShellRun, ground: Ground): Promise<ShellOutcome> {
    const began = now();
    const hold = confined();
    const plan = 'plan' in run.what ? run.what.plan : undefined;
    let running: Running | undefined;
    let ended: Ended;
    try {
      const words = hold([], ground, run.network);
      const around = (argv: readonly string[]): string[] => [...words, ...argv];
      const [pipe, ...between] = pipes(1 + (plan ? pipesBetween(plan) : 0), PATH);
      running = new Running({
        ...run,
        pipe: pipe!,
        cwd: ground.home,
        env: cleanEnv(ground.home),
        runawayBytes: Math.max(limits.runawayBytes, run.maxOutputBytes),
        ...(hold.isSandboxed ? { wrapper: 'bwrap' } : {}),
      });
      if (plan) ended = await runPlan(running, plan, pipe!.write, between, around);
      else if (running.stopped) ended = { code: 1 };
      else
        ended = await running.start(around([...BASH, (run.what as { script: string }).script]), [
          'ignore',
          pipe!.write,
          pipe!.write,
        ]);
    } catch (error) {
      await running?.finish();
      return { kind: 'not_started', reason: `the system did not start it: ${(error as Error).message}` };
    }
    const said = await running.finish();
    const rest = { ...said, ms: Math.round(now() - began) };
    if (running.stopped) return { kind: 'killed', by: running.stopped, ...rest };
    // Inside a sandbox a signal shows as a code; if the sandbox itself got one, nobody knows how far the command was.
    if (ended.signal && hold.isSandboxed) return { kind: 'killed', by: 'signal', ...rest };
    return { kind: 'exited', code: ended.code, ...rest };
  }
}

/** The agent's folder, made if it is missing; or why there can be none. */
function groundOf(root: string, agent: string): Ground | string {
  if (!isSafeId(agent)) return `${JSON.stringify(agent)} cannot be the name of a folder`;
  const real = fs.realpathSync(root);
  let folder = real;
  for (const part of ['workspaces', agent]) {
    folder = path.join(folder, part);
    try {
      fs.mkdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (!isRealFolder(folder)) return `${path.relative(real, folder)} is not a folder`;
  }
  return { root: real, home: folder, agent };
}

function message(run: ShellRun, outcome: Exclude<ShellOutcome, { kind: 'not_started' }>): string {
  const line =
    run.command ??
    ('script' in run.what ? run.what.script : 'plan' in run.what ? wordsOf(run.what.plan) : run.what.action.file);
  const subject = line.trim().split('\n')[0]!.slice(0, 72) || 'a command';
  const end = outcome.kind === 'exited' ? `Exit-Code: ${outcome.code}` : `Ended-By: ${outcome.by}`;
  return `${subject}\n\n${line}\n\n${run.task ? `Task: ${run.task}\n` : ''}${end}\n`;
}

function wordsOf(plan: Extract<ShellRun['what'], { plan: unknown }>['plan']): string {
  return plan.map(({ commands }) => commands.map(({ argv }) => argv.join(' ')).join(' | ')).join('; ');
}

function withNotes(trace: ShellTrace, before: (string | undefined)[]): ShellTrace {
  const notes = [...new Set([...before, trace.note].filter((note) => note !== undefined))];
  return { ...(trace.commit ? { commit: trace.commit } : {}), ...(notes.length > 0 ? { note: notes.join('; ') } : {}) };
}

function inWords(hold: Confine, network: boolean): string {
  if (hold.isSandboxed) {
    return (
      `sandboxed (bubblewrap, ${network ? 'with network' : 'no network'}): it can write only the agent's own folder;` +
      ' private files and your home folder are not visible to it'
    );
  }
  const limited = hold.isLimited ? 'limits on time, output, memory and processes' : 'limits on time and output';
  return (
    `not sandboxed, because ${hold.whyNot}: nothing holds it in but its folder, a clean environment and ${limited};` +
    ' it can read and change whatever you can, and use the network'
  );
}
