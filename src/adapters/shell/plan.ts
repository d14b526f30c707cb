/**
 * Runs a parsed command line without a shell: each command starts with exactly its arguments,
 * pipelines share real pipes, and lists follow exit codes as in Bash. Where Bash is needed (to open
 * an input file or to report an unknown command), it gets fixed text, with the arguments as
 * parameters.
 */
import fs from 'node:fs';
import type { PlainCommand, PlainPipeline } from '../../domain/policy.js';
import { findProgram } from './confine.js';
import type { Ended, RunningCommand, Stdio } from './running.js';
import type { Pipe } from './pipes.js';

export function pipesBetween(plan: readonly PlainPipeline[]): number {
  return plan.reduce((sum, pipeline) => sum + pipeline.commands.length - 1, 0);
}

/** The words that confine a command, and the settings for running it without approval. */
interface ConfineArgv {
  prefix: readonly string[];
  prepare(argv: readonly string[]): string[];
}

export async function runPlan(
  running: RunningCommand,
  plan: readonly PlainPipeline[],
  out: number,
  between: Pipe[],
  confine: ConfineArgv,
): Promise<Ended> {
  const pool = [...between];
  const background: Promise<Ended>[] = [];
  let last: Ended = { code: 0 };
  try {
    for (const chain of chainsOf(plan)) {
      const chained = runChain(running, chain, out, pool, confine);
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

/** `a && b & c` has two chains: `a && b` runs in the background as a whole. */
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
  running: RunningCommand,
  chain: PlainPipeline[],
  out: number,
  pool: Pipe[],
  confine: ConfineArgv,
): Promise<Ended> {
  let last: Ended = { code: 0 };
  let before: PlainPipeline['then'] = ';';
  for (const pipeline of chain) {
    const isWanted = before === ';' || (before === '&&') === (last.code === 0);
    before = pipeline.then;
    if (isWanted && running.stopped === undefined) last = await runPipeline(running, pipeline, out, pool, confine);
  }
  return last;
}

async function runPipeline(
  running: RunningCommand,
  pipeline: PlainPipeline,
  out: number,
  pool: Pipe[],
  confine: ConfineArgv,
): Promise<Ended> {
  const { commands, pipes: operators } = pipeline;
  const between = pool.splice(0, commands.length - 1);
  const ended: Promise<Ended>[] = [];
  try {
    commands.forEach((command, n) => {
      const stdin = between[n - 1]?.read ?? 'ignore';
      const stdout = between[n]?.write ?? out;
      const [toOut, toErr] = targets(command, stdout, out, operators[n] === '|&');
      ended.push(running.start(argvOf(command, confine), [stdin, toOut, toErr]));
    });
  } finally {
    between.forEach(closeBoth);
  }
  return (await Promise.all(ended)).at(-1)!;
}

/** Applies redirections in the order written, like a shell; `|&` joins after them. */
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

/**
 * Input files are opened inside the sandbox, so that only files visible to the command can be read.
 */
function argvOf({ argv, redirections }: PlainCommand, { prefix, prepare }: ConfineArgv): string[] {
  const name = argv[0]!;
  const exists = name.includes('/') || findProgram(name) !== undefined;
  const words = exists ? prepare(argv) : [...BASH, UNKNOWN, 'bash', name];
  const inputs = redirections.flatMap((redirection) => (redirection.kind === 'input' ? [redirection.path] : []));
  if (inputs.length === 0) return [...prefix, ...words];
  return [...prefix, ...BASH, WITH_INPUT, 'bash', String(inputs.length), ...inputs, ...words];
}

function closeBoth(pipe: Pipe): void {
  fs.closeSync(pipe.read);
  fs.closeSync(pipe.write);
}
