/** The shape of a command: its help, its options, and a body that returns the exit code. */
import { nearestHint } from '../../domain/nearest.js';
import { problem, ProblemError, problemError } from '../../domain/problem.js';
import type { openWorkspace } from '../../app/index.js';
import type { Io } from '../process/io.js';
import type { Terminal } from '../render/terminal.js';

interface Option {
  type: 'string' | 'boolean';
  short?: string;
  multiple?: boolean;
  /** The word for the value in the help text, such as `ID`. */
  value?: string;
  about: string;
}

export type Options = Record<string, Option>;

/** The forms of the command line, without `guild`: one, or several with their meanings. */
export type Usage = string | readonly (readonly [form: string, about: string])[];

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

export interface Help {
  options: OptionHelp[];
  commands: { name: string; usage: { form: string }[]; options: OptionHelp[] }[];
}

interface OptionHelp {
  name: string;
  short?: string;
  /** A flag has no value. */
  value: boolean;
  /** The word for the value in the help text. */
  placeholder?: string;
}

export interface Call {
  /** Words after the command that are not options. */
  words: string[];
  values: Values;
  terminal: Terminal;
  /** `--workspace`, else the nearest workspace upwards, else the current folder. */
  root: string;
  json: boolean;
  quiet: boolean;
  /** Print whole ids. */
  verbose: boolean;
  io: Io;
  /**
   * Opens a workspace with this call's environment; `guild record` replaces it to record the run.
   */
  open: typeof openWorkspace;
  /** Every command with its forms and options, as `guild help --json` prints them. */
  help(): Promise<Help>;
  /**
   * For a command that takes another command: its words, and a function that runs it. `root`: runs
   * it in this workspace, on files even if its own store is shared.
   */
  inner?: { words: string[]; run(open: typeof openWorkspace, root?: string): Promise<number> };
}

export interface Command {
  usage: Usage;
  /** Paragraphs. Lines indented by two blanks are examples and are not wrapped. */
  about: string;
  options?: Options;
  /** The maximum number of words. Default: any number. */
  maxWords?: number;
  /** Another command with its own options follows the first word. */
  takesCommand?: true;
  run(call: Call): Promise<number>;
}

/** 0 done · 1 problem · 2 wrong usage · 3 refused by policy · 4 waits for a human · 130 stopped */
export const EXIT = { done: 0, problem: 1, usage: 2, refused: 3, waiting: 4, interrupted: 130 } as const;

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function unknownWord(command: string, word: string | undefined, names: readonly string[]): ProblemError {
  const all = `it has ${names.join(', ')}`;
  return new ProblemError(
    word === undefined
      ? problem('bad_usage', `guild ${command} needs a command`, { hint: all })
      : problem('bad_usage', `guild ${command} has no command ${JSON.stringify(word)}`, {
          hint: nearestHint(word, names, all),
        }),
  );
}

/**
 * The folder to create: named by the command's own word or option, or by `--workspace`; not by
 * both.
 */
export function newFolder(values: Values, ownFolder: string | undefined, ownName: string): string | undefined {
  const workspace = text(values, 'workspace');
  if (ownFolder === undefined || workspace === undefined || ownFolder === workspace) return ownFolder ?? workspace;
  throw problemError('bad_usage', `${ownName} and --workspace name two folders: ${ownFolder} and ${workspace}`, {
    hint: 'name one of them',
  });
}

/** A whole number that an option names, within bounds. */
export function integerOption(values: Values, name: string, [min, max]: [number, number]): number | undefined {
  const value = text(values, name);
  if (value === undefined) return undefined;
  const number = /^\d+$/.test(value.trim()) ? Number(value) : NaN;
  if (number >= min && number <= max) return number;
  const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
  throw problemError('bad_usage', `--${name} must be a whole number ${range}, not ${JSON.stringify(value)}`);
}

export function listOption(values: Values, name: string): string[] {
  const value = values[name];
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list
    .flatMap((item) => (typeof item === 'string' ? item.split(',').map((part) => part.trim()) : []))
    .filter(Boolean);
}

export function counted(n: number, singular: string, plural = `${singular}s`): string {
  return `${n} ${n === 1 ? singular : plural}`;
}
