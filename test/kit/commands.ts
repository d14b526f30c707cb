/** A workspace in a temporary folder and a shell on it, with and without the sandbox. */
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from './temp/folder.js';
import { shell } from '../../src/adapters/shell/index.js';
import type { PlainPipeline } from '../../src/domain/policy.js';
import type { Shell, ShellOutcome, ShellRun } from '../../src/ports/shell.js';
import { DEFAULT_POLICY } from '../../src/domain/policy.js';
import { judgeLine } from '../../src/rules/policy/verdict.js';
import { parseBash } from '../../src/text/bash/parse.js';

export const MODES = ['sandboxed', 'not sandboxed'] as const;
export type Mode = (typeof MODES)[number];

/** Why sandbox tests cannot run here; false if they can. In CI a skipped test is a failure. */
export const NO_SANDBOX: string | false = (() => {
  const here = shell({ root: os.tmpdir(), env: process.env });
  return here.isSandboxed() ? false : here.confinement(undefined);
})();

export function skipReason(way: Mode): string | false {
  return way === 'sandboxed' ? NO_SANDBOX : false;
}

export interface ShellBench {
  root: string;
  home: string;
  shell: Shell;
  /** Approved text, run in the agent's own folder. */
  script(text: string, more?: Partial<ShellRun>): Promise<Ran>;
  /** A line that the policy allows; it runs without a shell. */
  line(text: string, more?: Partial<ShellRun>): Promise<Ran>;
}

type Ran = Exclude<ShellOutcome, { kind: 'not_started' }> & { code: number };

export function shellBench(t: TestContext, way: Mode, more: Partial<Parameters<typeof shell>[0]> = {}): ShellBench {
  const root = tempFolder('shell', t);
  const env = way === 'sandboxed' ? { GUILD_SANDBOX: process.env['GUILD_SANDBOX'] } : { GUILD_SANDBOX: 'off' };
  const instance = shell({ root, env, ...more });
  const run = async (what: ShellRun['what'], options: Partial<ShellRun> = {}): Promise<Ran> => {
    const outcome = await instance.run({
      agent: 'ana',
      what,
      writes: 'script' in what ? 'workspace' : 'own',
      timeoutMs: 120_000,
      maxOutputBytes: 64 * 1024,
      ...options,
    });
    if (outcome.kind === 'not_started') throw new Error(outcome.reason);
    return { code: -1, ...outcome };
  };
  return {
    root,
    home: path.join(root, 'workspaces', 'ana'),
    shell: instance,
    script: (text, options) => run({ script: `cd workspaces/ana || exit\n${text}` }, { command: text, ...options }),
    line: (text, options) => run({ plan: planOf(text) }, { command: text, ...options }),
  };
}

export function planOf(line: string): PlainPipeline[] {
  const judged = judgeLine(line, { policy: DEFAULT_POLICY, parse: parseBash });
  if (judged.plan === undefined) throw new Error(`${line}: ${judged.verdict}, ${judged.reason}`);
  return judged.plan;
}
