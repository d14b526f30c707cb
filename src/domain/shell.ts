/**
 * The syntax tree of a command line, with as few kinds of node as the policy needs. `text/bash`
 * parses it and `rules/policy` judges it. Anything known only at run time (variables,
 * substitutions, brace and file name expansion) has no value here, so that a guess is never taken
 * for a fact.
 */

/**
 * A piece of a word: literal text, a file name pattern, a variable, or a hole that only the shell
 * can fill.
 */
export type ShellPiece =
  | { kind: 'text'; text: string }
  | { kind: 'glob'; text: string }
  | { kind: 'braces'; text: string }
  | { kind: 'variable'; name: string }
  | { kind: 'hole'; text: string };

export interface ShellWord {
  /** As written. */
  text: string;
  /**
   * After quote removal; undefined when known only at run time. A leading `~` is kept and flagged.
   */
  value?: string;
  pieces: ShellPiece[];
  /** Has an unquoted `*`, `?` or `[`. */
  glob: boolean;
  /** Starts with an unquoted `~`. */
  tilde: boolean;
  /** Uses `$'…'` or `$"…"`. */
  dollarQuote: boolean;
  /** Contains an unquoted character outside printable ASCII. */
  odd: boolean;
  /** Command and process substitutions inside, at any depth. */
  scripts: ShellScript[];
  /** Every variable it reads. */
  variables: string[];
}

export interface ShellAssignment {
  name: string;
  /** One word, or the elements of an array. */
  values: ShellWord[];
}

export interface ShellRedirection {
  operator: '>' | '>>' | '<' | '<>' | '<&' | '>&' | '>|' | '&>' | '&>>' | '<<<' | '<<' | '<<-';
  /**
   * The descriptor as written; undefined when the operator implies it. A `{name}` form is given as
   * text.
   */
  fd?: number | string;
  /** For a here-document: its body. */
  target: ShellWord;
}

export interface ShellCommand {
  kind: 'command';
  assignments: ShellAssignment[];
  words: ShellWord[];
  redirections: ShellRedirection[];
}

export interface ShellPipeline {
  kind: 'pipeline';
  stages: ShellNode[];
  operators: ('|' | '|&')[];
}

type ShellSeparator = ';' | '&' | '&&' | '||';

/** `then`: the separator after the item; `;` also for a newline and the end. */
export interface ShellList {
  kind: 'list';
  items: { node: ShellNode; then: ShellSeparator }[];
}

/** Everything with a body: ( ), { }, if, for, while, case, select, coproc, [[ ]], (( )). */
export interface ShellBlock {
  kind: 'block';
  how: 'subshell' | 'group' | 'if' | 'for' | 'while' | 'case' | 'select' | 'coproc' | 'test' | 'arithmetic';
  bodies: ShellNode[];
  /** Words that it evaluates itself, such as the list of a `for`. */
  words: ShellWord[];
  /** The loop variable, or the name of a coprocess. */
  name?: string;
  redirections: ShellRedirection[];
}

interface ShellFunction {
  kind: 'function';
  name: string;
  body: ShellNode;
}

export type ShellNode = ShellCommand | ShellPipeline | ShellList | ShellBlock | ShellFunction;

export interface ShellScript {
  list: ShellList;
  /**
   * Only simple commands in pipelines and lists, and every character of the source is accounted
   * for.
   */
  plain: boolean;
}

/**
 * A failed parse may return the part that it understood, so that forbidden commands in it are still
 * denied.
 */
export type ParsedShell = { ok: true; script: ShellScript } | { ok: false; reason: string; partial?: ShellScript };
