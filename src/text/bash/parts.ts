/**
 * Converts a word of the parser to ours: fixed text, patterns, variables, holes, and every nested
 * substitution. Anything unknown throws, because a part that is dropped silently could run
 * something.
 */
import type * as U from 'unbash';
import type { ShellPiece, ShellScript, ShellWord } from '../../domain/shell.js';
import { scanWord } from './word.js';

export class NotUnderstood extends Error {}

/**
 * The parser reads a substitution when `script` is first accessed, so the node itself is passed.
 */
export type ReadScript = (node: { readonly script?: U.ParsedScript | undefined }) => ShellScript;

type Opaque = U.ArithmeticExpression | U.TestExpression;

export function wordOf(word: U.Word | Opaque, read: ReadScript): ShellWord {
  if (word.type !== 'Word') {
    const reader = new WordReader(read);
    reader.visit(word);
    return reader.word('', [{ kind: 'hole', text: '' }]);
  }
  const text = word.text;
  // The fast path: most words have no character with a meaning for a shell.
  if (ORDINARY.test(text)) {
    if (word.value !== text) throw new NotUnderstood('a word that can be read in two ways');
    return ordinary(text);
  }
  const scanned = scanWord(text);
  const reader = new WordReader(read);
  const pieces: ShellPiece[] = [];
  const parts = word.parts;
  if (parts === undefined) pieces.push({ kind: 'text', text: word.value });
  else for (const part of parts) pieces.push(...reader.part(part));
  let value = scanned.value;
  // Without an expansion, both readings must yield the same word; the parser's reading is not
  // enough.
  if (value !== undefined) {
    if (value !== word.value) throw new NotUnderstood('a word that can be read in two ways');
    if (pieces.some((piece) => piece.kind !== 'text' && piece.kind !== 'glob')) value = undefined;
  }
  const { glob, tilde, dollarQuote, odd } = scanned;
  const { scripts, variables } = reader;
  return { text, value, pieces, glob, tilde, dollarQuote, odd, scripts, variables };
}

const ORDINARY = /^[\w./:=@%+,-]+$/;
const NO_SCRIPTS: ShellScript[] = [];
const NO_VARIABLES: string[] = [];

function ordinary(text: string): ShellWord {
  return {
    text,
    value: text,
    pieces: [{ kind: 'text', text }],
    glob: false,
    tilde: false,
    dollarQuote: false,
    odd: false,
    scripts: NO_SCRIPTS,
    variables: NO_VARIABLES,
  };
}

/** A here-document: literal if its delimiter is quoted, else with expansions. */
export function wordOfBody(node: U.HereDoc, read: ReadScript): ShellWord {
  const reader = new WordReader(read);
  const pieces: ShellPiece[] = [];
  const parts = node.body.parts;
  if (parts === undefined) pieces.push({ kind: 'text', text: node.body.text });
  else for (const part of parts) pieces.push(...reader.part(part));
  const word = reader.word(node.body.text, pieces);
  const only = pieces.every((piece) => piece.kind === 'text');
  return only ? { ...word, value: pieces.map((piece) => piece.text).join('') } : word;
}

class WordReader {
  readonly scripts: ShellScript[] = [];
  readonly variables: string[] = [];
  constructor(private readonly read: ReadScript) {}

  word(text: string, pieces: ShellPiece[]): ShellWord {
    const { scripts, variables } = this;
    return { text, pieces, glob: false, tilde: false, dollarQuote: false, odd: false, scripts, variables };
  }

  part(part: U.WordPart): ShellPiece[] {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [{ kind: 'text', text: part.value }];
      case 'DoubleQuoted':
      case 'LocaleString':
        return part.parts.flatMap((child) => this.part(child));
      case 'Glob':
        for (const child of part.parts ?? []) this.visit(child);
        return [{ kind: 'glob', text: part.text }];
      case 'BraceExpansion':
        for (const child of part.parts ?? []) this.visit(child);
        return [{ kind: 'braces', text: part.text }];
      case 'SimpleExpansion': {
        const name = part.text.replace(/\\\n/g, '').slice(1);
        this.variables.push(name);
        return [{ kind: 'variable', name }];
      }
      default:
        this.visit(part);
        return [this.expansion(part)];
    }
  }

  private expansion(part: Exclude<U.WordPart, { type: 'Literal' | 'Glob' | 'SimpleExpansion' }>): ShellPiece {
    const plain =
      part.type === 'ParameterExpansion' &&
      part.prefix === undefined &&
      part.index === undefined &&
      (part.operation === undefined || part.operation.type === 'Default');
    return plain ? { kind: 'variable', name: part.parameter } : { kind: 'hole', text: part.text };
  }

  /** Collects substitutions and variables from every node that may contain them. */
  visit(node: U.WordPart | U.Word | Opaque | U.ParameterOperation): void {
    switch (node.type) {
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        this.scripts.push(this.read(node));
        return;
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
      case 'Names':
        return;
      case 'SimpleExpansion':
        this.variables.push(node.text.replace(/\\\n/g, '').slice(1));
        return;
      case 'ParameterExpansion':
        this.variables.push(node.parameter);
        if (node.index) this.visit(node.index);
        if (node.operation) this.visit(node.operation);
        return;
      case 'DoubleQuoted':
      case 'LocaleString':
      case 'Word':
      case 'Glob':
      case 'BraceExpansion':
      case 'ExtendedGlob':
      case 'ArithmeticWord':
        for (const part of node.parts ?? []) this.visit(part);
        return;
      case 'ArithmeticExpansion':
        if (node.expression === undefined && !/^\$\(\(\s*\)\)$|^\$\[\s*\]$/.test(node.text))
          throw unknownSyntax(node.type);
        if (node.expression) this.visit(node.expression);
        return;
      default:
        this.visitOperator(node);
    }
  }

  private visitOperator(
    node: Exclude<Opaque | U.ParameterOperation, { type: 'ArithmeticWord' | 'Names' | 'ArithmeticCommandExpansion' }>,
  ): void {
    switch (node.type) {
      case 'Default':
      case 'Remove':
      case 'Transform':
        return this.visit(node.operand);
      case 'CaseModification':
        if (node.operand) this.visit(node.operand);
        return;
      case 'Replace':
        this.visit(node.pattern);
        return this.visit(node.replacement);
      case 'Slice':
        this.visit(node.offset);
        if (node.length) this.visit(node.length);
        return;
      case 'ArithmeticBinary':
      case 'TestBinary':
        this.visit(node.left);
        return this.visit(node.right);
      case 'ArithmeticUnary':
      case 'TestUnary':
      case 'TestNot':
        return this.visit(node.operand);
      case 'ArithmeticTernary':
        this.visit(node.test);
        this.visit(node.consequent);
        return this.visit(node.alternate);
      case 'ArithmeticGroup':
      case 'TestGroup':
        return this.visit(node.expression);
      case 'TestLogical':
        for (const operand of node.operands) this.visit(operand);
        return;
      case 'Unknown':
        throw unknownSyntax(node.operator);
      default:
        throw unknownSyntax((node as { type: string }).type);
    }
  }
}

function unknownSyntax(what: string): NotUnderstood {
  return new NotUnderstood(`syntax that could not be read (${what})`);
}
