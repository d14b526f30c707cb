/** `guild help --json`: every command with its options and its help text. It loads all commands. */
import { EXIT, type Command, type Options } from './args/command.js';
import { COMMANDS, type Listed } from './commands.js';
import { VERSION } from './args/version.js';
import { commandHelp as helpText, PIPE_WIDTH } from './help.js';

interface OptionHelp {
  name: string;
  short?: string;
  /** A flag has no value. */
  value: boolean;
  /** The word for the value in the help text. */
  placeholder?: string;
  multiple: boolean;
  about: string;
}

export async function helpJson(named: Listed | undefined, everywhere: Options): Promise<object> {
  if (named !== undefined) return commandHelp(named, (await named.load()).command);
  const commands = await Promise.all(
    COMMANDS.map(async (listed) => commandHelp(listed, (await listed.load()).command)),
  );
  return {
    version: VERSION,
    usage: 'guild <command> [options]',
    options: options(everywhere),
    exit_codes: EXIT,
    commands,
  };
}

function commandHelp({ name, summary }: Listed, command: Command): object {
  const { usage, about, maxWords, options: own = {}, takesCommand } = command;
  return {
    name,
    summary,
    usage: typeof usage === 'string' ? [{ form: `guild ${usage}` }] : usage.map(formHelp),
    about: about.trim(),
    options: options(own),
    most_words: maxWords,
    takes_command: takesCommand,
    help: helpText(command, PIPE_WIDTH).join('\n'),
  };
}

function formHelp([form, about]: readonly [string, string]): object {
  return { form: `guild ${form}`, about };
}

function options(known: Options): OptionHelp[] {
  return Object.entries(known).map(([name, { type, short, multiple = false, value, about }]) => ({
    name: `--${name}`,
    short: short && `-${short}`,
    value: type === 'string',
    placeholder: value,
    multiple,
    about,
  }));
}
