/**
 * Runs commands in `workspaces/<agent>/` with a clean environment and no input, sandboxed if
 * bubblewrap works, and commits the folder afterwards. A command that the policy allows runs
 * without a shell; one that a human approved runs as Bash text.
 */
import { defined } from '../../domain/defined.js';
import fs from 'node:fs';
import path from 'node:path';
import { isSafeId } from '../../domain/task/id.js';
import type { Clock } from '../../ports/clock.js';
import type { Rollback, Shell, ShellOutcome, ShellRun, ShellTrace } from '../../ports/shell.js';
import { agentGit } from './agent-git.js';
import {
  cleanEnv,
  createConfinement,
  DEFAULT_LIMITS,
  isRealFolder,
  PATH,
  type Confinement,
  type AgentFolder,
  type Limits,
} from './confine.js';
import { RunningCommand, type Ended } from './running.js';
import { pipes } from './pipes.js';
import { BASH, pipesBetween, runPlan } from './plan.js';

interface ShellOptions {
  root: string;
  /** `GUILD_SANDBOX=off` turns the sandbox off. No variable reaches a command. */
  env?: Record<string, string | undefined>;
  clock?: Pick<Clock, 'monotonicMs'>;
  limits?: Partial<Limits>;
}

export function shell({ root, env = {}, clock, limits: overrides }: ShellOptions): Shell {
  const limits = { ...DEFAULT_LIMITS, ...overrides };
  const now = (): number => clock?.monotonicMs() ?? performance.now();
  const queues = new Map<string, Promise<unknown>>();
  let probed: Confinement | undefined;
  const probeOnce = (): Confinement =>
    (probed ??= createConfinement({ isOff: env['GUILD_SANDBOX'] === 'off', limits }));

  return {
    run: (run) => serialize(run.agent, () => runAndCommit(run)),
    rollback: (agent, commit) =>
      serialize(agent, async (): Promise<Rollback> => {
        const folder = agentFolder(root, agent);
        if (typeof folder === 'string') return { ok: false, reason: folder };
        const git = agentGit(probeOnce());
        await git.prepare(folder);
        return git.rollback(folder, commit);
      }),
    confinement: (network) => confinementText(probeOnce(), network),
    isSandboxed: () => probeOnce().isSandboxed,
  };

  function serialize<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const done = (queues.get(agent) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => undefined);
    queues.set(agent, settled);
    void settled.then(() => queues.get(agent) === settled && queues.delete(agent));
    return done;
  }

  async function runAndCommit(run: ShellRun): Promise<ShellOutcome> {
    if (run.signal?.aborted) return { kind: 'killed', by: 'cancel', output: '', cut: false, ms: 0 };
    if ('action' in run.what) return { kind: 'not_started', reason: 'plugin actions do not run as commands' };
    const folder = agentFolder(root, run.agent);
    if (typeof folder === 'string') return { kind: 'not_started', reason: folder };
    const git = agentGit(probeOnce());
    const notes = [await git.prepare(folder)];
    // Commit what file tools wrote since the last command separately.
    if ('script' in run.what) notes.push((await git.commit(folder, 'Between commands')).note);
    const outcome = await execute(run, folder);
    if (outcome.kind === 'not_started') return outcome;
    const trace = await git.commit(folder, message(run, outcome));
    return { ...outcome, ...withNotes(trace, notes) };
  }

  async function execute(run: ShellRun, folder: AgentFolder): Promise<ShellOutcome> {
    const start = now();
    const confinement = probeOnce();
    const plan = 'plan' in run.what ? run.what.plan : undefined;
    let running: RunningCommand | undefined;
    let ended: Ended;
    try {
      const words = confinement([], folder, run.network);
      const confinedArgv = (argv: readonly string[]): string[] => [...words, ...argv];
      const [pipe, ...between] = pipes(1 + (plan ? pipesBetween(plan) : 0), PATH);
      running = new RunningCommand({
        ...run,
        pipe: pipe!,
        cwd: folder.home,
        env: cleanEnv(folder.home),
        runawayBytes: Math.max(limits.runawayBytes, run.maxOutputBytes),
        wrapper: confinement.isSandboxed ? 'bwrap' : undefined,
      });
      if (plan) ended = await runPlan(running, plan, pipe!.write, between, confinedArgv);
      else if (running.stopped) ended = { code: 1 };
      else
        ended = await running.start(confinedArgv([...BASH, (run.what as { script: string }).script]), [
          'ignore',
          pipe!.write,
          pipe!.write,
        ]);
    } catch (error) {
      await running?.finish();
      return { kind: 'not_started', reason: `the system could not start it: ${(error as Error).message}` };
    }
    const result = await running.finish();
    const rest = { ...result, ms: Math.round(now() - start) };
    if (running.stopped) return { kind: 'killed', by: running.stopped, ...rest };
    // Inside a sandbox a signal shows as an exit code. If the sandbox itself was killed, it is
    // unknown how far the command got.
    if (ended.signal && confinement.isSandboxed) return { kind: 'killed', by: 'signal', ...rest };
    return { kind: 'exited', code: ended.code, ...rest };
  }
}

/** The agent's folder, created if it is missing; or the reason why it cannot be used. */
function agentFolder(root: string, agent: string): AgentFolder | string {
  if (!isSafeId(agent)) return `${JSON.stringify(agent)} is not a valid folder name`;
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
    ('script' in run.what ? run.what.script : 'plan' in run.what ? planText(run.what.plan) : run.what.action.file);
  const subject = line.trim().split('\n')[0]!.slice(0, 72) || 'a command';
  const end = outcome.kind === 'exited' ? `Exit-Code: ${outcome.code}` : `Ended-By: ${outcome.by}`;
  return `${subject}\n\n${line}\n\n${run.task ? `Task: ${run.task}\n` : ''}${end}\n`;
}

function planText(plan: Extract<ShellRun['what'], { plan: unknown }>['plan']): string {
  return plan.map(({ commands }) => commands.map(({ argv }) => argv.join(' ')).join(' | ')).join('; ');
}

function withNotes(trace: ShellTrace, before: (string | undefined)[]): ShellTrace {
  const notes = [...new Set([...before, trace.note].filter((note) => note !== undefined))];
  return defined<ShellTrace>({ commit: trace.commit || undefined, note: notes.join('; ') || undefined });
}

function confinementText(confinement: Confinement, network: boolean): string {
  if (confinement.isSandboxed) {
    return (
      `sandboxed (bubblewrap, ${network ? 'with network' : 'no network'}): a command can write only to the folder of its agent;` +
      ' it sees neither private files nor your home folder'
    );
  }
  const limited = confinement.isLimited ? 'limits on time, output, memory and processes' : 'limits on time and output';
  return (
    `not sandboxed, because ${confinement.whyNot}: the only restrictions are a clean environment and ${limited};` +
    ' a command can read and change whatever you can, and use the network'
  );
}
