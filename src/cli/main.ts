/** The command line: finds the command, reads its options, runs it, and returns the exit code. */
import { parseArgs } from 'node:util';
import { nearest, nearestHint } from '../domain/nearest.js';
import { asProblem, problem, ProblemError, type Problem } from '../domain/problem.js';
import { COMMANDS, GROUPS, type Listed } from './commands.js';
import { EXIT, type Call, type Command, type Help, type Options } from './args/command.js';
import { readOptions } from './args/read-options.js';
import { findRoot } from './args/find-workspace.js';
import { VERSION } from './args/version.js';
import { processIo, type Io } from './process/io.js';
import { jsonText } from './render/paint.js';
import { terminal } from './render/terminal.js';

const GLOBAL: Options = {
  workspace: {
    type: 'string',
    short: 'w',
    value: 'DIR',
    about: 'the workspace (default: GUILD_WORKSPACE, or the nearest folder upwards with a guild.yaml)',
  },
  json: { type: 'boolean', about: 'print JSON for programs' },
  quiet: { type: 'boolean', short: 'q', about: 'print results and problems only' },
  verbose: { type: 'boolean', short: 'v', about: 'print whole ids' },
  help: { type: 'boolean', short: 'h', about: 'print this text' },
};

export async function main(argv: string[], io: Io = processIo()): Promise<number> {
  io.stdout.on('error', (error: NodeJS.ErrnoException) => leaveQuietly(error, io));
  const at = argv.findIndex((word, i) => !word.startsWith('-') && !TAKES_VALUE.has(argv[i - 1] ?? ''));
  const name = at < 0 ? undefined : argv[at];
  if (name === undefined) return noCommand(io, argv);
  const listed = COMMANDS.find((command) => command.name === name);
  if (name === 'help')
    return help(
      io,
      argv.slice(at + 1).find((word) => !word.startsWith('-')),
      argv.includes('--json'),
    );
  if (listed === undefined) return fail(io, unknownCommand(name), argv.includes('--json'));
  const { command } = await listed.load();
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  return runCommand(io, listed, command, rest);
}

const TAKES_VALUE = new Set(['--workspace', '-w']);

async function runCommand(
  io: Io,
  listed: Listed,
  command: Command,
  commandLine: string[],
  open = openLater,
): Promise<number> {
  const { args, inner } = command.takesCommand ? splitInner(commandLine) : { args: commandLine, inner: [] };
  const hint = `guild ${listed.name} --help shows the options`;
  let read;
  try {
    read = readOptions(args, { ...command.options, ...GLOBAL }, hint);
  } catch (error) {
    return fail(io, error, args.includes('--json'));
  }
  const { values, words } = read;
  const json = values['json'] === true;
  if (values['help']) return help(io, listed.name, json);
  const quiet = values['quiet'] === true;
  const extra = words[command.maxWords ?? Infinity];
  if (extra !== undefined)
    return fail(
      io,
      problem('bad_usage', `guild ${listed.name} takes no argument ${JSON.stringify(extra)}`, { hint }),
      json,
    );
  const screen = terminal(io, { quiet, json });
  const call: Call = {
    words,
    values,
    terminal: screen,
    root: findRoot(typeof values['workspace'] === 'string' ? values['workspace'] : undefined, io),
    io,
    json,
    quiet,
    verbose: values['verbose'] === true,
    help: async () => (await import('./help-json.js')).helpJson(undefined, GLOBAL) as Promise<Help>,
    open: (folder, options) => open(folder, { env: io.env, ring: screen.ring, ...options }),
    inner: command.takesCommand ? innerOf(io, inner, args) : undefined,
  };
  try {
    return await command.run(call);
  } catch (thrown) {
    const what = thrown instanceof ProblemError && thrown.problem.code === 'bad_usage' ? thrown.problem : undefined;
    return fail(io, what === undefined ? thrown : { hint, ...what }, json);
  }
}

/** Loaded when a command opens a workspace: `guild --help` stays quick. */
const openLater: Call['open'] = async (folder, options) =>
  (await import('../app/index.js')).openWorkspace(folder, options);

/**
 * `record <file> run planner --model x`: options before the second word belong to `record`. `--`
 * may separate the two.
 */
function splitInner(commandLine: string[]): { args: string[]; inner: string[] } {
  let words = 0;
  for (const [i, word] of commandLine.entries()) {
    if (word === '--') return { args: commandLine.slice(0, i), inner: commandLine.slice(i + 1) };
    const isWord = !word.startsWith('-') && !TAKES_VALUE.has(commandLine[i - 1] ?? '');
    if (isWord && ++words === 2) return { args: commandLine.slice(0, i), inner: commandLine.slice(i) };
  }
  return { args: commandLine, inner: [] };
}

function innerOf(io: Io, words: string[], outer: string[]): NonNullable<Call['inner']> {
  const { values } = parseArgs({ args: outer, options: GLOBAL, allowPositionals: true, strict: false });
  const shared = ['json', 'quiet'].filter((name) => values[name] === true).map((name) => `--${name}`);
  if (typeof values['workspace'] === 'string') shared.push('--workspace', values['workspace']);
  return {
    words,
    async run(open, root) {
      const listed = COMMANDS.find(({ name }) => name === words[0]);
      if (listed === undefined) return fail(io, unknownCommand(words[0] ?? ''), values['json'] === true);
      const { command } = await listed.load();
      if (root === undefined) return runCommand(io, listed, command, [...shared, ...words.slice(1)], open);
      return onFiles(io, (there) =>
        runCommand(there, listed, command, [...shared, '--workspace', root, ...words.slice(1)], open),
      );
    },
  };
}

/** Some readers look at the environment of the process, which may name a shared store. */
async function onFiles<T>(io: Io, run: (there: Io) => Promise<T>): Promise<T> {
  const { GUILD_STORE: before } = process.env;
  if (before !== undefined) process.env['GUILD_STORE'] = 'files';
  try {
    return await run({ ...io, env: { ...io.env, GUILD_STORE: 'files' } });
  } finally {
    if (before !== undefined) process.env['GUILD_STORE'] = before;
  }
}

/** Prints a problem, for programs too, and returns its exit code. */
function fail(io: Io, thrown: unknown, json: boolean): number {
  const isProblem = typeof thrown === 'object' && thrown !== null && 'code' in thrown && !(thrown instanceof Error);
  const what = isProblem ? (thrown as Problem) : asProblem(thrown);
  if (what.code === 'bug') {
    what.message += ' (a bug in guild; GUILD_DEBUG=1 shows where)';
    if (thrown instanceof Error && io.env['GUILD_DEBUG']) io.stderr.write(`${thrown.stack}\n`);
  }
  if (json) io.stdout.write(`${jsonText({ problem: what })}\n`);
  terminal(io).problem(what);
  return EXITS[what.code] ?? EXIT.problem;
}

const EXITS: Partial<Record<Problem['code'], number>> = {
  bad_usage: EXIT.usage,
  bad_name: EXIT.usage,
  not_allowed: EXIT.refused,
  needs_human: EXIT.waiting,
};

/** The reader of the output has closed the pipe: `guild task list | head -1`. */
function leaveQuietly(error: NodeJS.ErrnoException, io: Io): void {
  if (error.code !== 'EPIPE') throw error;
  io.exit(EXIT.done);
}

async function noCommand(io: Io, argv: string[]): Promise<number> {
  if (argv.includes('--version') || argv.includes('-v')) {
    io.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  const json = argv.includes('--json');
  const known = new Set(Object.entries(GLOBAL).flatMap(([name, { short }]) => [`--${name}`, `-${short ?? name}`]));
  const odd = argv.find((word) => word.startsWith('-') && !known.has(word.split('=')[0]!));
  if (odd !== undefined) return fail(io, unknownOption(odd), json);
  if (argv.length > 0 && !argv.includes('--help') && !argv.includes('-h'))
    return fail(io, problem('bad_usage', 'a command is missing', { hint: 'guild --help lists all commands' }), json);
  return help(io, undefined, json);
}

async function help(io: Io, name: string | undefined, json: boolean): Promise<number> {
  const listed = COMMANDS.find((command) => command.name === name);
  if (listed === undefined && name !== undefined) return fail(io, unknownCommand(name), json);
  if (json) {
    const { helpJson } = await import('./help-json.js');
    io.stdout.write(`${JSON.stringify(await helpJson(listed, GLOBAL))}\n`);
    return EXIT.done;
  }
  const { commandHelp, helpWidth, joined, optionLines, paragraphs, twoColumns } = await import('./help.js');
  const width = helpWidth(terminal(io).width);
  const common = [optionLines(GLOBAL, width, 'Options of every command'), paragraphs(EXIT_CODES, width)];
  const sections =
    listed === undefined
      ? [
          paragraphs('guild runs a team of AI agents out of a plain folder.', width),
          ['guild <command> [options]'],
          ...GROUPS.map(({ title, commands }) => [
            `${title}:`,
            ...twoColumns(
              commands.map(({ name, summary }) => [name, summary]),
              width,
              Math.max(...COMMANDS.map(({ name }) => name.length)),
            ),
          ]),
          ...common,
          paragraphs(MORE_HELP, width),
        ]
      : [commandHelp((await listed.load()).command, width), ...common];
  io.stdout.write(`${joined(sections).join('\n')}\n`);
  return EXIT.done;
}

const EXIT_CODES =
  'Exit codes: 0 done, 1 a problem, 2 wrong usage, 3 refused by policy, 4 waiting for you, 130 stopped by Ctrl-C';
const MORE_HELP = 'guild <command> --help describes a command. guild help --json prints all of it for programs.';

function unknownOption(option: string): Problem {
  const hint = nearestHint(
    option,
    [...Object.keys(GLOBAL), 'version'].map((name) => `--${name}`),
  );
  return problem('bad_usage', `there is no option ${option}`, { hint: hint ?? 'guild --help lists all options' });
}

function unknownCommand(name: string): Problem {
  const near = nearest(
    name,
    COMMANDS.map((command) => command.name),
  );
  return problem('bad_usage', `there is no command ${JSON.stringify(name)}`, {
    hint: near ? `did you mean guild ${near}? guild --help lists all commands` : 'guild --help lists all commands',
  });
}
