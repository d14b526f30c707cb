/** The command line: finds the command, reads its options, runs it, and turns whatever happens into an exit code. */
import { parseArgs } from 'node:util';
import { ProblemError, problem, type Problem } from '../domain/problem.js';
import { COMMANDS, type Listed } from './commands.js';
import { EXIT, type Call, type Command, type Options } from './command.js';
import { terminal } from './terminal.js';
import { findRoot } from './root.js';
import { VERSION } from './version.js';

const GLOBAL: Options = {
  workspace: { type: 'string', short: 'w' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
};

export async function main(argv: string[]): Promise<number> {
  const at = argv.findIndex((word, i) => !word.startsWith('-') && !TAKES_VALUE.has(argv[i - 1] ?? ''));
  const name = at < 0 ? undefined : argv[at];
  if (name === undefined) return noCommand(argv);
  const listed = COMMANDS.find((one) => one.name === name);
  if (name === 'help') return help(argv[at + 1]);
  if (listed === undefined) return fail(unknownCommand(name), EXIT.usage);
  const { command } = await listed.load();
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  return runCommand(listed, command, rest);
}

const TAKES_VALUE = new Set(['--workspace', '-w']);

async function runCommand(listed: Listed, command: Command, args: string[]): Promise<number> {
  let parsed;
  try {
    parsed = parseArgs({ args, options: { ...command.options, ...GLOBAL }, allowPositionals: true });
  } catch (error) {
    const said = (error as Error).message.split('.')[0]!;
    return fail(problem('bad_usage', said, { hint: `guild ${listed.name} --help shows what it takes` }), EXIT.usage);
  }
  const { values, positionals } = parsed;
  if (values['help']) {
    process.stdout.write(`${command.help.trim()}\n\n${COMMON}\n`);
    return EXIT.done;
  }
  const json = values['json'] === true;
  const quiet = values['quiet'] === true;
  const call: Call = {
    words: positionals,
    values: values as Call['values'],
    terminal: terminal({ quiet, json }),
    root: findRoot(typeof values['workspace'] === 'string' ? values['workspace'] : undefined),
    json,
    quiet,
  };
  try {
    return await command.run(call);
  } catch (thrown) {
    return failed(thrown, json);
  }
}

async function failed(thrown: unknown, json: boolean): Promise<number> {
  const { asProblem } = await import('../domain/problem.js');
  const what = asProblem(thrown);
  if (what.code === 'bug' && thrown instanceof Error && process.env['GUILD_DEBUG'])
    process.stderr.write(`${thrown.stack}\n`);
  const exit = what.code === 'bad_usage' ? EXIT.usage : what.code === 'not_allowed' ? EXIT.refused : EXIT.problem;
  if (json) process.stdout.write(`${JSON.stringify({ problem: what })}\n`);
  return fail(
    thrown instanceof ProblemError || what.code !== 'bug'
      ? what
      : { ...what, message: `${what.message} (a bug in guild; GUILD_DEBUG=1 shows where)` },
    exit,
  );
}

function fail(what: Problem, exit: number): number {
  terminal({ quiet: false, json: false }).problem(what);
  return exit;
}

function noCommand(argv: string[]): number {
  if (argv.includes('--version') || argv.includes('-v')) {
    process.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  process.stdout.write(overview());
  return argv.length === 0 || argv.includes('--help') || argv.includes('-h') ? EXIT.done : EXIT.usage;
}

async function help(name: string | undefined): Promise<number> {
  const listed = COMMANDS.find((one) => one.name === name);
  if (listed === undefined) {
    process.stdout.write(overview());
    return name === undefined ? EXIT.done : EXIT.usage;
  }
  const { command } = await listed.load();
  process.stdout.write(`${command.help.trim()}\n\n${COMMON}\n`);
  return EXIT.done;
}

function overview(): string {
  const wide = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(wide)}  ${summary}`);
  return `guild runs a team of AI agents out of a plain folder.\n\n  guild <command> [options]\n\n${lines.join('\n')}\n\n${COMMON}\n\nguild <command> --help tells more about one.\n`;
}

const COMMON = `Everywhere: --workspace DIR (-w), --json, --quiet (-q), --help (-h)
Exit codes: 0 done, 1 a problem, 2 wrong usage, 3 refused by policy, 4 waiting for a human`;

function unknownCommand(name: string): Problem {
  const near = COMMANDS.map((one) => one.name).find((one) => one.startsWith(name.slice(0, 2)));
  return problem('bad_usage', `there is no command ${JSON.stringify(name)}`, {
    hint: near ? `did you mean guild ${near}? guild --help lists all` : 'guild --help lists all',
  });
}
