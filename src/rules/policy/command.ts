/**
 * The built-in verdict on a command line. A line that contains a forbidden command is denied. If
 * every command only reads and all words are literal, it runs with exactly those words and without
 * a shell. Everything else needs a person. The verdict depends on the line alone: no disk, clock or
 * environment.
 */
import type { CommandVerdict, PlainCommand, PlainPipeline } from '../../domain/policy.js';
import type { ParsedShell, ShellCommand, ShellRedirection, ShellScript, ShellWord } from '../../domain/shell.js';
import { whyNotAuto } from './reads/auto.js';
import { whyDenied } from './never/deny.js';
import { denyUnparsed } from './never/unparsed.js';
import { secretPath, type Places } from './never/secrets.js';

export interface CommandContext {
  parse(line: string): ParsedShell;
  /** The home directory of the user that would run it; without it, `~` needs a person. */
  home?: string;
  /** The directory it would run in. */
  cwd?: string;
  operand?: Places['operand'];
}

export interface Leaf {
  /** Undefined if a word is known only at run time. */
  command?: PlainCommand;
  /** As written, for people and patterns. */
  text: string;
  /** Why a person must approve it; undefined if it may run automatically. */
  whyAsk?: string | undefined;
  /** A reason that no rule may lift: an assignment, or a redirection that writes. */
  fixed?: string | undefined;
}

export interface Inspection {
  deny?: string;
  /** Why a person must approve the whole line; no rule about single commands lifts this. */
  whyAsk?: string;
  /** Not parsed to the end, or misleading: no rule of any kind lifts `whyAsk`. */
  unclear?: boolean;
  /** Every command of a plain line. */
  leaves: Leaf[];
  plan?: PlainPipeline[];
}

export function autoVerdict(reason: string, plan: PlainPipeline[]): CommandVerdict {
  const argv = plan.flatMap((pipeline) => pipeline.commands.map((command) => command.argv));
  return { verdict: 'auto', reason, argv, plan };
}

export function inspect(line: string, context: CommandContext): Inspection {
  const parsed = context.parse(line);
  const script = parsed.ok ? parsed.script : parsed.partial;
  const deny = (script && whyDenied(script, context, line.length)) ?? denyUnparsed(line, parsed.ok, context);
  if (deny !== undefined) return { deny, leaves: [] };
  if (!parsed.ok) return { whyAsk: `it could not be parsed: ${parsed.reason}`, unclear: true, leaves: [] };
  const strange = strangeCharacter(line);
  if (strange !== undefined) return { whyAsk: strange, unclear: true, leaves: [] };
  if (!parsed.script.plain) return { whyAsk: 'it is more than simple commands in pipelines and lists', leaves: [] };
  const comment = foreignComment(line, parsed.script);
  return comment === undefined ? plainParts(parsed.script, context) : { whyAsk: comment, leaves: [] };
}

function plainParts(script: ShellScript, context: CommandContext): Inspection {
  const leaves: Leaf[] = [];
  const plan: PlainPipeline[] = [];
  const cache = new Map<string, Leaf>();
  for (const { node, then } of script.list.items) {
    const stages = node.kind === 'pipeline' ? node.stages : [node];
    const commands: PlainCommand[] = [];
    for (const stage of stages) {
      if (stage.kind !== 'command') return { whyAsk: 'it is more than simple commands', leaves: [] };
      const leaf = leafOf(stage, context, cache);
      leaves.push(leaf);
      if (leaf.command) commands.push(leaf.command);
    }
    plan.push({ commands, pipes: node.kind === 'pipeline' ? node.operators : NO_PIPES, then });
  }
  if (leaves.length === 0) return { whyAsk: 'it contains no command', leaves };
  return leaves.every((leaf) => leaf.command && leaf.fixed === undefined) ? { leaves, plan } : { leaves };
}

const NO_PIPES: PlainPipeline['pipes'] = [];

/** Cached by text, because long lines often repeat a command. */
function leafOf(command: ShellCommand, context: CommandContext, cache: Map<string, Leaf>): Leaf {
  const text = textOf(command);
  if (command.redirections.length > 0 || command.assignments.length > 0) return readLeaf(command, text, context);
  let leaf = cache.get(text);
  if (leaf === undefined) cache.set(text, (leaf = readLeaf(command, text, context)));
  return leaf;
}

function textOf(command: ShellCommand): string {
  let text = command.words[0]?.text ?? '';
  for (let n = 1; n < command.words.length; n++) text += ` ${command.words[n]!.text}`;
  return text;
}

function readLeaf(command: ShellCommand, text: string, context: CommandContext): Leaf {
  const unknown = firstOf(command.words, (word) => runTimeWord(word, context));
  if (unknown !== undefined) return { text, whyAsk: unknown };
  const argv = command.words.map((word) => valueOf(word, context));
  const redirections: PlainCommand['redirections'] = [];
  let fixed = command.assignments.length > 0 ? 'it sets a variable' : undefined;
  for (const redirection of command.redirections) {
    const read = readRedirection(redirection, context);
    if (typeof read === 'string') fixed ??= read;
    else redirections.push(read);
  }
  if (argv.length === 0) fixed ??= 'it contains no command';
  const name = command.words[0];
  const isBare = name === undefined || name.text === argv[0];
  const whyAsk = fixed ?? (isBare ? whyNotAuto(argv, context) : 'the name of the command is quoted or escaped');
  return { command: { argv, redirections }, text, whyAsk, fixed };
}

/** Why the value of a word is unknown before the line runs. */
function runTimeWord(word: ShellWord, context: CommandContext): string | undefined {
  if (word.value === undefined) return `${shown(word.text)} is known only when it runs`;
  if (word.glob)
    return `${shown(word.text)} is a file name pattern, known only when it runs; quote it if it is meant as text`;
  if (word.dollarQuote || word.odd) return `${shown(word.text)} is not plain text`;
  if (!word.tilde) return undefined;
  const isOwn = word.text === '~' || word.text.startsWith('~/');
  return isOwn && context.home !== undefined ? undefined : `${shown(word.text)} is known only when it runs`;
}

function valueOf(word: ShellWord, context: CommandContext): string {
  return word.tilde ? context.home! + word.value!.slice(1) : word.value!;
}

/** A harmless redirection, or why it is not harmless. */
function readRedirection(
  { operator, fd, target }: ShellRedirection,
  context: CommandContext,
): PlainCommand['redirections'][number] | string {
  const unknown = runTimeWord(target, context);
  if (unknown !== undefined) return unknown;
  const to = valueOf(target, context);
  const from = fd === undefined || fd === 1 ? 'stdout' : fd === 2 ? 'stderr' : undefined;
  if (to === '/dev/null') {
    if (operator === '>' && from) return { kind: 'null', from };
    if ((operator === '&>' || operator === '>&') && fd === undefined) return { kind: 'null', from: 'both' };
  }
  if (operator === '>&' && from && (to === '1' || to === '2')) {
    return { kind: 'join', from, to: to === '1' ? 'stdout' : 'stderr' };
  }
  if (operator !== '<' || (fd !== undefined && fd !== 0)) return `the redirection to ${shown(to)} is not harmless`;
  if (to === '/dev/null') return 'reading from /dev is not harmless';
  return secretPath(to, context) ?? { kind: 'input', path: to };
}

/**
 * Finds control and invisible characters. Quoted text may contain visible characters of any script.
 */
function strangeCharacter(line: string): string | undefined {
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  return /^[\t\n\x20-\x7e]*$/.test(line) ? undefined : strangeAmongForeign(line);
}

/** Apart, because compiling classes of Unicode costs a new process more than the usual verdict. */
function strangeAmongForeign(line: string): string | undefined {
  for (let at = 0; at < line.length;) {
    const code = line.codePointAt(at)!;
    const char = String.fromCodePoint(code);
    const joinsPicture =
      (code === 0xfe0f || code === 0x200d) && /[\p{Extended_Pictographic}\ufe0f]$/u.test(line.slice(0, at));
    if (code > 126 || (code < 32 && code !== 9 && code !== 10)) {
      if (!joinsPicture && !/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char)) return invisible(code);
      if (!joinsPicture && /\p{Default_Ignorable_Code_Point}/u.test(char)) return invisible(code);
    }
    at += char.length;
  }
  return undefined;
}

/**
 * Non-ASCII characters outside quotes mark their word as odd; those in no word at all are in a
 * comment.
 */
function foreignComment(line: string, script: ShellScript): string | undefined {
  let left = countForeign(line);
  if (left === 0) return undefined;
  for (const { node } of script.list.items) {
    for (const stage of node.kind === 'pipeline' ? node.stages : [node]) {
      if (stage.kind !== 'command') continue;
      const targets = stage.redirections.map((redirection) => redirection.target);
      for (const word of [...stage.words, ...targets]) left -= countForeign(word.text);
    }
  }
  return left > 0 ? 'it contains non-ASCII characters outside quotes' : undefined;
}

function countForeign(text: string): number {
  return text.replace(/[\x00-\x7f]/g, '').length;
}

function invisible(code: number): string {
  return `it contains a control or invisible character (U+${code.toString(16).toUpperCase().padStart(4, '0')})`;
}

function firstOf<T>(items: T[], why: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const reason = why(item);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function shown(text: string): string {
  const cut = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return cut.replace(/[^\x20-\x7e…]/g, '?');
}
