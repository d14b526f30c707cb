/** What `guild --help` says, for programs: every command with its options and its whole help text. Loads all of them, so only for who asks. */
import { EXIT, type Command, type Options } from './args/command.js';
import { COMMANDS, type Listed } from './commands.js';
import { VERSION } from './args/version.js';

interface OptionSaid {
  name: string;
  short?: string;
  /** A flag has no value. */
  value: boolean;
  multiple: boolean;
}

export async function helpJson(named: Listed | undefined, everywhere: Options): Promise<object> {
  if (named !== undefined) return said(named, (await named.load()).command);
  const commands = await Promise.all(COMMANDS.map(async (one) => said(one, (await one.load()).command)));
  return {
    version: VERSION,
    usage: 'guild <command> [options]',
    options: options(everywhere),
    exit_codes: EXIT,
    commands,
  };
}

function said({ name, summary }: Listed, { help, most, options: own = {}, takesCommand }: Command): object {
  return {
    name,
    summary,
    options: options(own),
    ...(most === undefined ? {} : { most_words: most }),
    ...(takesCommand ? { takes_command: true } : {}),
    help: help.trim(),
  };
}

function options(known: Options): OptionSaid[] {
  return Object.entries(known).map(([name, { type, short, multiple = false }]) => ({
    name: `--${name}`,
    ...(short === undefined ? {} : { short: `-${short}` }),
    value: type === 'string',
    multiple,
  }));
}
