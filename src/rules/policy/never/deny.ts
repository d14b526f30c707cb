/**
 * Finds commands that must never run, at any depth: in wrappers, literal scripts, substitutions and
 * functions. One walk collects three facts about each part, bottom up: a reason to deny, whether it
 * downloads, and whether it runs its input. A download that flows into something that runs it is
 * denied.
 */
import type {
  ParsedShell,
  ShellBlock,
  ShellCommand,
  ShellList,
  ShellNode,
  ShellPipeline,
  ShellRedirection,
  ShellScript,
  ShellWord,
} from '../../../domain/shell.js';
import { forkBomb } from './bomb.js';
import { deniedArgv } from './denied.js';
import { type Arg, argsOf, literalText } from './shape.js';
import { isInterpreter, unwrap, withoutRepeats, wordsOf, type Words } from './wrappers.js';

export interface DenyContext {
  parse(line: string): ParsedShell;
  home?: string;
  cwd?: string;
}

/** Why this must never run; undefined if nothing was found. `length`: of the whole line. */
export function whyDenied(script: ShellScript, context: DenyContext, length: number): string | undefined {
  return new DenyWalk(context, length).script(script).deny ?? undefined;
}

interface Seen {
  deny?: string | undefined;
  /** Downloads something. */
  fetches: boolean;
  /**
   * Runs its input: a shell, an interpreter, eval, or a command whose name is known only at run
   * time.
   */
  runs: boolean;
}

const MAX_NESTED = 24;

class DenyWalk {
  /** How many commands, words and characters of scripts may still be examined. */
  private left: number;
  /** The scripts around the command that is being examined. */
  private readonly nested = new Set<string>();
  /** Scripts by their text: a line may repeat one. */
  private readonly parsed = new Map<string, ParsedShell>();
  private cwd: string | undefined;
  private readonly functions = new Map<string, Seen>();
  /** The findings on commands of one word, by their text: a line may repeat one. */
  private readonly singles = new Map<string, Seen>();
  /**
   * The most words examined after each first word, because different readings of the options lead
   * to the same command.
   */
  private readonly tried = new Map<Arg, number>();
  /** Variables with downloaded text. */
  private readonly fetched = new Set<string>();
  constructor(
    private readonly context: DenyContext,
    length: number,
  ) {
    this.cwd = context.cwd;
    this.left = 20_000 + 2 * length;
  }

  /** A deeply nested line must neither hide a forbidden command nor block the process. */
  private mayExamine(work: number, seen: Seen): boolean {
    this.left -= work;
    if (this.left < 0) seen.deny ??= TOO_DEEP;
    return this.left >= 0;
  }

  script(script: ShellScript): Seen {
    const seen = this.list(script.list);
    seen.deny ??= forkBomb(script);
    return seen;
  }

  private node(node: ShellNode, stdin?: string): Seen {
    if (node.kind === 'command') return this.command(node, stdin);
    if (node.kind === 'pipeline') return this.pipeline(node, stdin);
    if (node.kind === 'list') return this.list(node, stdin);
    if (node.kind === 'block') return this.block(node, stdin);
    const seen = this.node(node.body);
    this.functions.set(node.name, seen);
    this.singles.clear();
    return { deny: seen.deny, fetches: false, runs: false };
  }

  private list(list: ShellList, stdin?: string): Seen {
    const seen = nothing();
    for (const item of list.items) add(seen, this.node(item.node, stdin));
    return seen;
  }

  private pipeline(pipeline: ShellPipeline, stdin?: string): Seen {
    const seen = nothing();
    let fed = stdin;
    for (const stage of pipeline.stages) {
      const inside = this.node(stage, fed);
      if (seen.fetches && inside.runs) inside.deny ??= FETCHED;
      add(seen, inside);
      fed = printed(stage, fed);
    }
    return seen;
  }

  private block(block: ShellBlock, stdin?: string): Seen {
    const seen = nothing();
    const words = this.words(block.words);
    add(seen, words);
    if (words.fetches && block.name !== undefined) this.fetched.add(block.name);
    const fed = this.redirections(block.redirections, seen, stdin);
    const before = this.cwd;
    for (const body of block.bodies) add(seen, this.node(body, fed.stdin));
    if (block.how === 'subshell') this.cwd = before;
    this.meet(seen, fed);
    return seen;
  }

  private command(command: ShellCommand, stdin?: string): Seen {
    const single = stdin === undefined ? singleWord(command) : undefined;
    if (this.isInert(command)) return NOTHING;
    const known = single === undefined ? undefined : this.singles.get(single);
    if (known !== undefined) return { ...known };
    const seen = nothing();
    if (!this.mayExamine(1, seen)) return seen;
    for (const { name, values } of command.assignments) {
      const value = this.words(values);
      add(seen, { ...value, runs: false });
      if (value.fetches) this.fetched.add(name);
    }
    const fed = this.redirections(command.redirections, seen, stdin);
    const args: Arg[] = [];
    for (const word of command.words) {
      const inside = word.scripts.length + word.variables.length === 0 ? NOTHING : this.words([word]);
      add(seen, inside);
      for (const arg of argsOf(word, inside.fetches)) args.push(arg);
    }
    this.argv(args, seen, fed.stdin);
    this.keep(args, fed);
    this.meet(seen, fed);
    if (single !== undefined && single !== 'cd' && single !== 'pushd') this.singles.set(single, { ...seen });
    return seen;
  }

  /** The common case: a program that starts nothing, with literal words. */
  private isInert({ words, assignments, redirections }: ShellCommand): boolean {
    const name = words[0]?.value;
    if (name === undefined || !INERT.has(name) || this.functions.has(name)) return false;
    if (assignments.length > 0 || redirections.length > 0) return false;
    return words.every((word) => word.scripts.length === 0 && word.variables.length === 0);
  }

  /** Builtins that store downloaded text where a later command finds it. */
  private keep(args: Arg[], fed: Fed): void {
    const name = args[0]?.text ?? '';
    if (fed.fetches && /^(read|mapfile|readarray)$/.test(name)) for (const arg of args) this.fetched.add(arg.text);
    if (fed.fetches && name === 'exec') this.fetched.add(DESCRIPTOR);
    if (name === 'printf' && args.some((arg) => arg.fetched)) for (const arg of args) this.fetched.add(arg.text);
  }

  /** Substitutions in words run, and downloaded text becomes part of the word. */
  private words(words: ShellWord[]): Seen {
    let seen = NOTHING;
    for (const word of words) {
      if (word.scripts.length === 0 && word.variables.length === 0) continue;
      if (seen === NOTHING) seen = nothing();
      for (const script of word.scripts) add(seen, this.script(script));
      if (word.variables.some((name) => this.fetched.has(name))) seen.fetches = true;
    }
    return seen;
  }

  private redirections(list: ShellRedirection[], seen: Seen, stdin?: string): Fed {
    const fed: Fed = { stdin, fetches: false, runs: false };
    if (list.length === 0) return fed;
    for (const { operator, target } of list) {
      const inside = this.words([target]);
      seen.deny ??= inside.deny;
      if (operator.startsWith('<')) {
        fed.fetches ||= inside.fetches || (operator === '<&' && this.fetched.has(DESCRIPTOR));
        fed.stdin = operator.startsWith('<<') ? literalText(target) : undefined;
      } else fed.runs ||= inside.runs;
    }
    return fed;
  }

  private meet(seen: Seen, fed: Fed): void {
    if ((fed.fetches && seen.runs) || (fed.runs && seen.fetches)) seen.deny ??= FETCHED;
    seen.fetches ||= fed.fetches;
    seen.runs ||= fed.runs;
  }

  /** One command, and the commands that it starts in turn. */
  private argv(args: Arg[], seen: Seen, stdin: string | undefined): void {
    const open: Start[] = [{ argv: () => args, at: 0 }];
    for (let start = open.pop(); start !== undefined && seen.deny === undefined; start = open.pop()) {
      if ('script' in start) {
        this.text(start.script(), seen, stdin);
        continue;
      }
      const words = 'words' in start ? start.words : wordsOf(start.argv());
      if ('argv' in start && !this.mayExamine(words.args.length, seen)) continue;
      const at = withoutRepeats(words, start.at);
      const name = words.args[at];
      if (name === undefined) continue;
      const length = words.args.length - at;
      if (this.tried.get(name) === length) continue;
      this.tried.set(name, length);
      this.started(name, words, at, seen);
      if (name.name === undefined || !this.mayExamine(SCANS.test(name.name) ? 4 * length : 1, seen)) continue;
      const inner = unwrap(name.name, words, at, stdin);
      for (const next of inner.starts.reverse()) open.push({ words, at: next });
      // Scripts go on top of the stack: each level may contain one, and the work limit should be
      // spent on the outermost ones.
      for (const argv of inner.argvs.reverse()) open.push({ argv, at: 0 });
      for (const script of inner.scripts.reverse()) open.push({ script });
    }
  }

  /** One program, without those that it starts. */
  private started({ name, text, fetched }: Arg, words: Words, at: number, seen: Seen): void {
    if (fetched) seen.deny = FETCHED;
    if (name === undefined) {
      seen.runs = true;
      return;
    }
    const body = this.functions.get(text);
    if (body) add(seen, { ...body, deny: undefined });
    if (name === 'curl' || name === 'wget') seen.fetches = true;
    const args = SCANS.test(name) || name === 'cd' || name === 'pushd' ? words.args.slice(at) : [];
    const interprets = isInterpreter(name) || (AWK.test(name) && args.some((arg) => /system|\|/.test(arg.text)));
    if (interprets) seen.runs = true;
    if (interprets && words.lastFetched >= at) seen.deny ??= FETCHED;
    seen.deny ??= deniedArgv(name, args, { home: this.context.home, cwd: this.cwd });
    if (name === 'cd' || name === 'pushd') this.moveTo(args);
  }

  /** A literal script, such as the one after `sh -c`. */
  private text(text: string, seen: Seen, stdin: string | undefined): void {
    // A script that starts itself (`source /dev/stdin`) adds nothing new.
    if (this.nested.has(text)) return;
    if (this.nested.size >= MAX_NESTED) seen.deny ??= TOO_DEEP;
    if (seen.deny !== undefined || !this.mayExamine(text.length, seen)) return;
    let parsed = this.parsed.get(text);
    if (parsed === undefined) this.parsed.set(text, (parsed = this.context.parse(text)));
    const script = parsed.ok ? parsed.script : parsed.partial;
    if (script === undefined) return;
    this.nested.add(text);
    const inside = this.list(script.list, stdin);
    this.nested.delete(text);
    inside.deny ??= forkBomb(script);
    add(seen, inside);
  }

  private moveTo(args: Arg[]): void {
    const to = args.slice(1).find((arg) => !arg.text.startsWith('-'))?.path ?? this.context.home;
    if (to === undefined) this.cwd = undefined;
    else if (to.startsWith('/')) this.cwd = to;
    else this.cwd = this.cwd === undefined ? undefined : `${this.cwd}/${to}`;
  }
}

/** A command among words at hand, one among words made on demand, or a literal script. */
type Start = { words: Words; at: number } | { argv: () => Arg[]; at: number } | { script: () => string };

interface Fed {
  stdin: string | undefined;
  fetches: boolean;
  runs: boolean;
}

/** The entry of `fetched` for an open file descriptor. */
const DESCRIPTOR = '<&';

const INERT = new Set(['ls', 'cat', 'ps', 'grep', 'head', 'wc', 'pwd', 'echo', 'date', 'git', 'true', ':']);

/** Shared by all parts without findings; never modified. */
const NOTHING: Seen = { deny: undefined, fetches: false, runs: false };
const TOO_DEEP = 'it hides commands deeper than the gate can look';
const AWK = /^[gmn]?awk$/;
/** Programs whose words are all examined. */
const SCANS = /^(rm|dd|perl|python[\d.]*|ruby|[gmn]?awk)$/;
export const FETCHED = 'a shell or interpreter would run what curl or wget downloads';

function singleWord({ words, assignments, redirections }: ShellCommand): string | undefined {
  if (words.length !== 1 || assignments.length > 0 || redirections.length > 0) return undefined;
  return words[0]!.scripts.length + words[0]!.variables.length === 0 ? words[0]!.text : undefined;
}

function nothing(): Seen {
  return { deny: undefined, fetches: false, runs: false };
}

function add(to: Seen, from: Seen): void {
  to.deny ??= from.deny;
  to.fetches ||= from.fetches;
  to.runs ||= from.runs;
}

/** The output of a literal echo, printf or cat, or of several in a group. */
function printed(node: ShellNode, stdin: string | undefined): string | undefined {
  if (node.kind === 'block' && (node.how === 'subshell' || node.how === 'group')) {
    const [body] = node.bodies;
    if (body?.kind !== 'list' || body.items.length > 50) return undefined;
    const texts = body.items.map((item) => printed(item.node, stdin));
    return texts.some((text) => text !== undefined) ? texts.map((text) => text ?? '').join('\n') : undefined;
  }
  if (node.kind !== 'command') return undefined;
  const [name, ...words] = node.words.map((word) => literalText(word));
  const own = node.redirections.find(({ operator }) => operator.startsWith('<<'));
  if (name === 'cat' || name === 'tee') return own ? literalText(own.target) : stdin;
  if ((name !== 'echo' && name !== 'printf' && name !== 'yes') || words.includes(undefined)) return undefined;
  if (name !== 'printf') return words.filter((word) => !/^-[neE]+$/.test(word!)).join(' ');
  const [format = '', ...values] = (words as string[]).filter((word) => word !== '--');
  const filled = format.replace(/%[sbdq]/g, () => values.shift() ?? '').replace(/\\n/g, '\n');
  return [filled, ...values].join('\n');
}
