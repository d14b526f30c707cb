/**
 * Runs a judged command line by its words: each command is started with exactly its words, pipelines share real pipes, lists go
 * on by exit codes as Bash counts them. No shell reads a word again; where one has to open a file or say that a name is
 * unknown, it gets fixed text, and the words as parameters.
 */
import fs from 'node:fs';
import type { PlainCommand, PlainPipeline } from '../../domain/policy.js';
import { find } from './confine.js';
import type { Ended, Running, Stdio } from './running.js';
import type { Pipe } from './pipes.js';

/** How many pipes it needs between its commands. */
export function pipesBetween(plan: readonly PlainPipeline[]): number {
  return plan.reduce((sum, pipeline) => sum + pipeline.commands.length - 1, 0);
}

/** What stands before the words to confine them. */
type Confined = (argv: readonly string[]) => string[];

export async function runPlan(
  running: Running,
  plan: readonly PlainPipeline[],
  out: number,
  between: Pipe[],
  confined: Confined,
): Promise<Ended> {
  const pool = [...between];
  const background: Promise<Ended>[] = [];
  let last: Ended = { code: 0 };
  try {
    for (const chain of chainsOf(plan)) {
      const chained = runChain(running, chain, out, pool, confined);
      if (chain.at(-1)!.then === '&') background.push(chained);
      last = chain.at(-1)!.then === '&' ? { code: 0 } : await chained;
    }
  } finally {
    await Promise.allSettled(background);
    for (const pipe of pool) closeBoth(pipe);
  }
  await Promise.all(background);
  return last;
}

/** `a && b & c` is two: `a && b` as a whole runs in the background. */
function chainsOf(plan: readonly PlainPipeline[]): PlainPipeline[][] {
  const chains: PlainPipeline[][] = [];
  let chain: PlainPipeline[] = [];
  for (const pipeline of plan) {
    chain.push(pipeline);
    if (pipeline.then === '&&' || pipeline.then === '||') continue;
    chains.push(chain);
    chain = [];
  }
  return chain.length > 0 ? [...chains, chain] : chains;
}

async function runChain(
  running: Running,
  chain: PlainPipeline[],
  out: number,
  pool: Pipe[],
  confined: Confined,
): Promise<Ended> {
  let last: Ended = { code: 0 };
  let before: PlainPipeline['then'] = ';';
  for (const pipeline of chain) {
    const isWanted = before === ';' || (before === '&&') === (last.code === 0);
    before = pipeline.then;
    if (isWanted && running.stopped === undefined) last = await runPipeline(running, pipeline, out, pool, confined);
  }
  return last;
}

async function runPipeline(
  running: Running,
  pipeline: PlainPipeline,
  out: number,
  pool: Pipe[],
  confined: Confined,
): Promise<Ended> {
  const { commands, pipes: operators } = pipeline;
  const between = pool.splice(0, commands.length - 1);
  const ended: Promise<Ended>[] = [];
  try {
    commands.forEach((command, n) => {
      const stdin = between[n - 1]?.read ?? 'ignore';
      const stdout = between[n]?.write ?? out;
      const [toOut, toErr] = targets(command, stdout, out, operators[n] === '|&');
      ended.push(running.start(confined(wordsOf(command)), [stdin, toOut, toErr]));
    });
  } finally {
    between.forEach(closeBoth);
  }
  return (await Promise.all(ended)).at(-1)!;
}

/** Redirections in the order written, as a shell does them; `|&` joins after them. */
function targets(command: PlainCommand, stdout: Stdio, stderr: Stdio, joined: boolean): [Stdio, Stdio] {
  const to = { stdout, stderr };
  for (const redirection of command.redirections) {
    if (redirection.kind === 'join') to[redirection.from] = to[redirection.to];
    if (redirection.kind !== 'null') continue;
    if (redirection.from !== 'stderr') to.stdout = 'ignore';
    if (redirection.from !== 'stdout') to.stderr = 'ignore';
  }
  return [to.stdout, joined ? to.stdout : to.stderr];
}

export const BASH = ['bash', '--norc', '--noprofile', '-c'] as const;
const UNKNOWN = 'printf "%s: command not found\\n" "$1" >&2; exit 127';
const WITH_INPUT = 'for ((left = $1; left > 0; left--)); do shift; exec < "$1" || exit 1; done; shift; exec "$@"';

/** Input files are opened where the command runs, not here: what it may not see cannot be handed to it. */
function wordsOf({ argv, redirections }: PlainCommand): string[] {
  const name = argv[0]!;
  const isKnown = name.includes('/') || find(name) !== undefined;
  const words = isKnown ? argv : [...BASH, UNKNOWN, 'bash', name];
  const inputs = redirections.flatMap((one) => (one.kind === 'input' ? [one.path] : []));
  return inputs.length === 0 ? words : [...BASH, WITH_INPUT, 'bash', String(inputs.length), ...inputs, ...words];
}

function closeBoth(pipe: Pipe): void {
  fs.closeSync(pipe.read);
  fs.closeSync(pipe.write);
}
