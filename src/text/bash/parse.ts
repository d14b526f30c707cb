/**
 * Parses a command line as Bash would. The `unbash` parser provides the grammar; this file converts
 * its tree. An unknown node, any error, or two different readings of one word make the line "not
 * understood", and the policy asks. The parser may skip characters silently, so `isPlain` checks
 * them.
 */
import { parse } from 'unbash';
import type * as U from 'unbash';
import type {
  ParsedShell,
  ShellAssignment,
  ShellBlock,
  ShellCommand,
  ShellList,
  ShellNode,
  ShellRedirection,
  ShellScript,
  ShellWord,
} from '../../domain/shell.js';
import { isPlain } from './plain.js';
import { NotUnderstood, wordOf, wordOfBody, type ReadScript } from './parts.js';

const MAX_LINE = 128 * 1024;
const MAX_DEPTH = 40;
const MAX_HERE = 100;
/** The parser looks for the end of each `$[` and `name[` up to the end of the line. */
const MAX_SUBSCRIPTS = 60;
/** Each substitution is parsed as a script; this many fit well into the time of a verdict. */
const MAX_SUBSTITUTIONS = 200;
const NOTHING: ShellScript = { list: { kind: 'list', items: [] }, plain: false };

export function parseBash(line: string): ParsedShell {
  if (line.length > MAX_LINE) return { ok: false, reason: `longer than ${MAX_LINE} characters` };
  if (bracketDepth(line) > 2 * MAX_DEPTH) return { ok: false, reason: 'nested too deeply' };
  if (line.split(/[$\w]\[/, MAX_SUBSCRIPTS + 2).length > MAX_SUBSCRIPTS + 1)
    return { ok: false, reason: 'too many words contain [' };
  if (line.split('<<').length > MAX_HERE) return { ok: false, reason: 'too many here-documents' };
  try {
    const tree = parse(line);
    const reader = new TreeReader();
    const script = reader.script(tree, line, 0);
    if (reader.fault !== undefined) return { ok: false, reason: reader.fault, partial: script };
    return { ok: true, script };
  } catch (thrown) {
    const reason = thrown instanceof NotUnderstood ? thrown.message : 'the shell syntax could not be read';
    return { ok: false, reason };
  }
}

/**
 * Nesting of brackets, ignoring quotes: a cheap bound that keeps hostile input from the parser. The
 * expression finds them faster than a loop over all characters, above all in a new process.
 */
function bracketDepth(line: string): number {
  let round = 0;
  let curly = 0;
  let deepest = 0;
  for (const bracket of line.match(/[(){}]/g) ?? []) {
    if (bracket === '(') round++;
    else if (bracket === '{') curly++;
    else if (bracket === ')' && round > 0) round--;
    else if (bracket === '}' && curly > 0) curly--;
    deepest = Math.max(deepest, round + curly);
  }
  return deepest;
}

class TreeReader {
  /** The first thing that was not understood although the tree continues. */
  fault: string | undefined;
  private depth = 0;
  private substitutions = 0;
  private readonly words = new Map<string, ShellWord>();

  script(
    tree: U.Script & { errors?: readonly U.ParseError[] | undefined },
    source: string,
    level: number,
  ): ShellScript {
    const errors = tree.errors;
    if (errors && errors.length > 0) this.fault ??= `syntax error: ${errors[0]!.message}`;
    const own = tree.source ?? source;
    const list = this.statements(tree.commands);
    const script = { list, plain: level === 0 && tree.shebang === undefined && isPlain(tree, own) };
    return script;
  }

  private statements(statements: readonly U.Statement[]): ShellList {
    const items: ShellList['items'] = [];
    for (const statement of statements) {
      const node = statement.command;
      const last = statement.background ? '&' : ';';
      if (node.type !== 'AndOr') {
        items.push({ node: this.node(node), then: last });
        continue;
      }
      node.commands.forEach((command, n) => items.push({ node: this.node(command), then: node.operators[n] ?? last }));
    }
    return { kind: 'list', items };
  }

  private node(node: U.PipelineNode): ShellNode {
    if (++this.depth > MAX_DEPTH) throw new NotUnderstood('nested too deeply');
    try {
      return this.anyNode(node);
    } finally {
      this.depth--;
    }
  }

  private anyNode(node: U.PipelineNode): ShellNode {
    switch (node.type) {
      case 'Command':
        return this.command(node);
      case 'Pipeline': {
        const stages = node.commands.map((command) => this.node(command));
        if (stages.length === 0) this.fault ??= 'a pipeline without a command';
        return { kind: 'pipeline', stages, operators: [...node.operators] };
      }
      case 'Redirected': {
        const inner = this.node(node.command);
        if (inner.kind !== 'block') throw new NotUnderstood('a redirection of something unknown');
        return { ...inner, redirections: node.redirects.map((redirect) => this.redirection(redirect)) };
      }
      case 'Function':
        return { kind: 'function', name: node.name.value, body: this.body(node.body) };
      case 'Coproc':
        return block('coproc', [this.body(node.body)], [], node.name?.value);
      default:
        return this.compound(node);
    }
  }

  private body(node: U.Command | U.CompoundCommand | U.Redirected | U.CompoundList): ShellNode {
    return node.type === 'CompoundList' ? this.statements(node.commands) : this.node(node);
  }

  private compound(node: U.CompoundCommand): ShellBlock {
    switch (node.type) {
      case 'Subshell':
        return block('subshell', [this.statements(node.body.commands)]);
      case 'BraceGroup':
        return block('group', [this.statements(node.body.commands)]);
      case 'If': {
        const parts = [node.clause, node.then, ...node.elif.flatMap((branch) => [branch.clause, branch.then])];
        if (node.else) parts.push(node.else);
        return block(
          'if',
          parts.map((part) => this.statements(part.commands)),
        );
      }
      case 'For':
      case 'Select': {
        const words = (node.wordlist ?? []).map((word) => this.word(word));
        const how = node.type === 'For' ? 'for' : 'select';
        return block(how, [this.statements(node.body.commands)], words, node.name.value);
      }
      case 'ArithmeticFor': {
        const words = [node.initialize, node.test, node.update].flatMap((part) => (part ? [this.opaque(part)] : []));
        return block('for', [this.statements(node.body.commands)], words);
      }
      case 'While':
        return block('while', [this.statements(node.clause.commands), this.statements(node.body.commands)]);
      case 'Case': {
        const words = [node.word, ...node.items.flatMap((item) => item.pattern)].map((word) => this.word(word));
        return block(
          'case',
          node.items.map((item) => this.statements(item.body.commands)),
          words,
        );
      }
      case 'TestCommand':
        return block('test', [], [this.opaque(node.expression)]);
      case 'ArithmeticCommand':
        return block('arithmetic', [], node.expression ? [this.opaque(node.expression)] : []);
      default:
        return unknownNode(node);
    }
  }

  private command(node: U.Command): ShellCommand {
    const words: ShellWord[] = [];
    if (node.prefix.length === 0 && node.suffix.every((item) => item.type === 'Word')) {
      if (node.name) words.push(this.word(node.name));
      for (const item of node.suffix) words.push(this.word(item));
      return { kind: 'command', assignments: NO_ASSIGNMENTS, words, redirections: NO_REDIRECTIONS };
    }
    const assignments: ShellAssignment[] = [];
    const redirections: ShellRedirection[] = [];
    for (const item of node.prefix) {
      if (item.type === 'Assignment') assignments.push(this.assignment(item));
      else redirections.push(this.redirection(item));
    }
    if (node.name) words.push(this.word(node.name));
    for (const item of node.suffix) {
      if (item.type === 'Word') words.push(this.word(item));
      else if (item.type === 'Assignment') {
        // `export a=b` is an argument of the builtin and an assignment for later commands.
        const assigned = this.assignment(item);
        assignments.push(assigned);
        words.push(hole(item.text, assigned.values));
      } else redirections.push(this.redirection(item));
    }
    return { kind: 'command', assignments, words, redirections };
  }

  private assignment(node: U.Assignment): ShellAssignment {
    const values = node.value.type === 'Word' ? [node.value] : [...node.value.elements];
    if (node.index) values.push(node.index);
    return { name: node.name, values: values.map((word) => this.word(word)) };
  }

  private redirection(node: U.Redirection): ShellRedirection {
    const from = node.descriptor;
    const fd = from === undefined ? undefined : from.type === 'FileDescriptor' ? from.value : from.name;
    const target = node.type === 'HereDoc' ? wordOfBody(node, this.inner) : node.target && this.word(node.target);
    if (target === undefined) throw new NotUnderstood('a redirection without a target');
    return { operator: node.operator, fd, target };
  }

  private word(word: U.Word): ShellWord {
    const cached = this.words.get(word.text);
    if (cached !== undefined) return cached;
    const read = wordOf(word, this.inner);
    // The same text is the same word, unless it contains a script, which has its own positions.
    if (read.scripts.length === 0) this.words.set(word.text, read);
    return read;
  }

  /** Arithmetic and tests: only the commands inside them are judged, not their text. */
  private opaque(node: U.ArithmeticExpression | U.TestExpression): ShellWord {
    return wordOf(node, this.inner);
  }

  /** A substitution inside a word adds to the depth. */
  private inner: ReadScript = (node) => {
    // The rest of the line is still read, so that a forbidden command after them is found.
    if (++this.substitutions > MAX_SUBSTITUTIONS) {
      this.fault ??= 'too many substitutions';
      return NOTHING;
    }
    const { script } = node;
    if (script === undefined) throw new NotUnderstood('a substitution that could not be read');
    if (++this.depth > MAX_DEPTH) throw new NotUnderstood('nested too deeply');
    try {
      return this.script(script, '', this.depth);
    } finally {
      this.depth--;
    }
  };
}

/** Shared by all commands without assignments or redirections. */
const NO_ASSIGNMENTS: ShellAssignment[] = [];
const NO_REDIRECTIONS: ShellRedirection[] = [];

function block(how: ShellBlock['how'], bodies: ShellNode[], words: ShellWord[] = [], name?: string): ShellBlock {
  return { kind: 'block', how, bodies, words, name, redirections: [] };
}

function hole(text: string, values: ShellWord[]): ShellWord {
  return {
    text,
    pieces: [{ kind: 'hole', text }],
    glob: false,
    tilde: false,
    dollarQuote: false,
    odd: values.some((word) => word.odd),
    scripts: values.flatMap((word) => word.scripts),
    variables: values.flatMap((word) => word.variables),
  };
}

function unknownNode(node: never): never {
  throw new NotUnderstood(`unknown syntax ${String((node as { type?: string }).type)}`);
}
