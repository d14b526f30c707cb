/**
 * Reads the options and words of a command line. A mistake is a problem with a hint. A negative
 * number counts as the value of its option, so that the command can name the numbers it accepts.
 */
import { parseArgs } from 'node:util';
import { nearest } from '../../domain/nearest.js';
import { problemError } from '../../domain/problem.js';
import type { Options, Values } from './command.js';

export function readOptions(args: string[], options: Options, hint: string): { values: Values; words: string[] } {
  const { values, positionals, tokens } = parseArgs({
    args,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    const message = token.kind === 'option' ? mistake(token, options) : undefined;
    if (message !== undefined) throw problemError('bad_usage', message, { hint });
  }
  return { values, words: positionals };
}

/** Names of the `--json` option in other programs. */
const FOR_PROGRAMS = new Set(['format', 'output', 'o', 'j']);

interface OptionToken {
  name: string;
  /** As it was typed, with its dashes. */
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

function mistake({ name, rawName, value, inlineValue }: OptionToken, options: Options): string | undefined {
  const option = Object.hasOwn(options, name) ? options[name]! : undefined;
  if (option === undefined) {
    const meant = FOR_PROGRAMS.has(name)
      ? 'json'
      : rawName.startsWith('--')
        ? nearest(name, Object.keys(options))
        : undefined;
    return `there is no option ${rawName}${meant === undefined ? '' : `; did you mean --${meant}?`}`;
  }
  if (option.type === 'boolean') return value === undefined ? undefined : `${rawName} takes no value`;
  if (value === undefined || (!inlineValue && /^-[^\d.]/.test(value))) return `${rawName} needs a value`;
  return undefined;
}
