/**
 * Runs commands in the workspace with a clean environment and no input, sandboxed if the machine
 * offers it, and commits the agent's folder afterwards. A command that the policy allows runs
 * without a shell and writes only that folder; one that a human approved runs as Bash text.
 */
import type { Env } from '../../domain/config/env.js';
import { defined } from '../../domain/defined.js';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SandboxSetting } from '../../domain/config/config.js';
import { isSafeId } from '../../domain/task/id.js';
import type { Rollback, Shell, ShellOutcome, ShellRun, ShellTrace } from '../../ports/shell.js';
import { agentGit } from './agent-git.js';
import { autoArgv } from './auto-git.js';
import { isRealFolder, SANDBOX_HOME, type AgentFolder } from './bubblewrap.js';
import { createConfinement, DEFAULT_LIMITS, type Confinement, type Limits } from './confine.js';
import { commandEnv, PATH } from './environment.js';
import { RunningCommand, type Ended } from './running.js';
import { pipes } from './pipes.js';
import { BASH, pipesBetween, runPlan } from './plan.js';
import { protectNames } from './protect-names.js';
import { startProxy } from './proxy.js';
import { confinementText, refusalText } from './words.js';

interface ShellOptions {
  root: string;
  /** `GUILD_SANDBOX=off` turns the sandbox off. No variable reaches a command. */
  env?: Env;
  /** Default: required if a command ran sandboxed here before, otherwise preferred. */
  sandbox?: SandboxSetting | undefined;
  limits?: Partial<Limits>;
}

/** Exists if a command has run sandboxed in this workspace. */
const MARKER = '.guild/sandboxed';

export function shell({ root, env = {}, sandbox, limits: overrides }: ShellOptions): Shell {
  const limits = { ...DEFAULT_LIMITS, ...overrides };
  const queues = new Map<string, Promise<unknown>>();
  let probed: Confinement | undefined;
  const probeOnce = (): Confinement => (probed ??= createConfinement(defined({ whyOff: whyOff(), limits })));

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
    confinement: (hosts) => confinementText(probeOnce(), hosts),
    isSandboxed: () => probeOnce().sandbox !== undefined,
    refusal,
  };

  function whyOff(): string | undefined {
    if (env['GUILD_SANDBOX'] === 'off') return 'GUILD_SANDBOX turns it off';
    return sandbox === 'off' ? 'guild.yaml turns it off' : undefined;
  }

  function refusal(): string | undefined {
    const confinement = probeOnce();
    if (confinement.sandbox !== undefined) return undefined;
    const isRequired = sandbox === 'required' || (sandbox === undefined && fs.existsSync(path.join(root, MARKER)));
    return isRequired || confinement.isUnsure ? refusalText(confinement, sandbox) : undefined;
  }

  function serialize<T>(agent: string, work: () => Promise<T>): Promise<T> {
    const done = (queues.get(agent) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => undefined);
    queues.set(agent, settled);
    void settled.then(() => queues.get(agent) === settled && queues.delete(agent));
    return done;
  }

  async function runAndCommit(run: ShellRun): Promise<ShellOutcome> {
    if (run.signal?.aborted) return { kind: 'killed', by: 'cancel', output: '', cut: false };
    if ('action' in run.what) return { kind: 'not_started', reason: 'plugin actions do not run as commands' };
    const folder = agentFolder(root, run.agent);
    if (typeof folder === 'string') return { kind: 'not_started', reason: folder };
    const confinement = probeOnce();
    const refused = refusal();
    if (refused !== undefined) return { kind: 'not_started', reason: refused };
    if (run.walls === 'sandbox' && confinement.sandbox === undefined)
      return { kind: 'not_started', reason: 'it was approved for the sandbox, and no sandbox is available now' };
    const git = agentGit(confinement);
    const notes = [await git.prepare(folder)];
    // Commit changes of file tools since the last command separately.
    if ('script' in run.what) notes.push((await git.commit(folder, 'Between commands')).note);
    if (confinement.sandbox !== undefined) leaveMarker();
    const names =
      run.writes === 'workspace' && confinement.sandbox !== undefined ? protectNames(folder.root) : undefined;
    const outcome = await execute(run, folder, confinement);
    notes.push(names?.check());
    if (outcome.kind === 'not_started') return outcome;
    const trace = await git.commit(folder, message(run, outcome));
    return { ...outcome, ...withNotes(trace, notes) };
  }

  function leaveMarker(): void {
    const file = path.join(root, MARKER);
    if (fs.existsSync(file)) return;
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(file, 'A command ran sandboxed here, so commands do not run without a sandbox from now on.\n');
  }

  async function execute(run: ShellRun, folder: AgentFolder, confinement: Confinement): Promise<ShellOutcome> {
    const plan = 'plan' in run.what ? run.what.plan : undefined;
    const isSandboxed = confinement.sandbox !== undefined;
    const places = isSandboxed ? undefined : emptyPlaces();
    let running: RunningCommand | undefined;
    let proxy: Awaited<ReturnType<typeof startProxy>> | undefined;
    let ended: Ended;
    try {
      if (run.hosts !== undefined && isSandboxed)
        proxy = await startProxy(run.hosts, confinement.sandbox === 'seatbelt');
      const reach = defined({ writes: run.writes, proxy: proxy?.reach });
      const prefix = confinement.prefix(folder, reach, 'agent');
      const [pipe, ...between] = pipes(1 + (plan ? pipesBetween(plan) : 0), PATH);
      running = new RunningCommand({
        ...run,
        pipe: pipe!,
        cwd: folder.root,
        env: { ...commandEnv(places ?? { home: SANDBOX_HOME, scratch: '/tmp' }), ...proxy?.env },
        runawayBytes: Math.max(limits.runawayBytes, run.maxOutputBytes),
        wrapper: isSandboxed ? 'bwrap' : undefined,
        openFilter: confinement.openFilter,
      });
      const prepare = (argv: readonly string[]): string[] => autoArgv(argv, folder);
      if (plan) ended = await runPlan(running, plan, pipe!.write, between, { prefix, prepare });
      else if (running.stopped) ended = { code: 1 };
      else
        ended = await running.start(
          [...prefix, ...BASH, (run.what as { script: string }).script],
          ['ignore', pipe!.write, pipe!.write],
        );
    } catch (error) {
      await running?.finish();
      await proxy?.close();
      places?.remove();
      return { kind: 'not_started', reason: `the system could not start it: ${(error as Error).message}` };
    }
    const result = await running.finish();
    await proxy?.close();
    places?.remove();
    if (running.stopped) return { kind: 'killed', by: running.stopped, ...result };
    // Inside a sandbox a signal shows as an exit code. If the sandbox itself was killed, it is
    // unknown how far the command got.
    if (ended.signal && isSandboxed) return { kind: 'killed', by: 'signal', ...result };
    return { kind: 'exited', code: ended.code, ...result };
  }
}

/** Without a sandbox: an empty, read-only home and a scratch folder, for one command. */
function emptyPlaces(): { home: string; scratch: string; remove(): void } {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'guild-home-'));
  const [home, scratch] = [path.join(folder, 'home'), path.join(folder, 'tmp')];
  fs.mkdirSync(home, 0o500);
  fs.mkdirSync(scratch, 0o700);
  return { home, scratch, remove: () => fs.rmSync(folder, { recursive: true, force: true }) };
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
