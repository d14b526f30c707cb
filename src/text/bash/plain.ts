/**
 * Accounts for every character of a script of simple commands in pipelines and lists. Between the
 * words of a command there may be only spaces, and between two commands only the operator in the
 * tree. This detects a parser that skipped or invented something, without a second grammar.
 */
import type * as U from 'unbash';

export function isPlain(script: U.Script, source: string): boolean {
  const gaps = new Gaps(source);
  for (const statement of script.commands) {
    const node = statement.command;
    const last = statement.background ? '&' : ';';
    if (node.type !== 'AndOr') {
      if (!readPipeline(node, last, gaps)) return false;
      continue;
    }
    for (let n = 0; n < node.commands.length; n++) {
      if (!readPipeline(node.commands[n]!, node.operators[n] ?? last, gaps)) return false;
    }
  }
  return gaps.end();
}

/** Walks through the source from item to item and checks the gaps in between. */
class Gaps {
  private at = 0;
  private expected: string | undefined = 'start';
  constructor(private readonly source: string) {}

  /** `next` is the operator that must follow this item; undefined inside a command. */
  advance(pos: number, end: number, next: string | undefined): boolean {
    const ok = pos >= this.at && fits(this.source, this.at, pos, this.expected);
    this.at = end;
    this.expected = next;
    return ok;
  }

  end(): boolean {
    return fits(this.source, this.at, this.source.length, this.expected === ';' ? 'end' : this.expected);
  }
}

/**
 * True for a simple command, or a pipeline of simple commands, with every character accounted for.
 */
function readPipeline(node: U.PipelineNode, next: string, gaps: Gaps): boolean {
  if (node.type === 'Command') return readCommand(node, next, gaps);
  if (node.type !== 'Pipeline' || node.prefixes.length > 0 || node.commands.length === 0) return false;
  for (let n = 0; n < node.commands.length; n++) {
    const command = node.commands[n]!;
    if (command.type !== 'Command' || !readCommand(command, node.operators[n] ?? next, gaps)) return false;
  }
  return true;
}

function readCommand(node: U.Command, next: string, gaps: Gaps): boolean {
  const { prefix, name, suffix } = node;
  const count = prefix.length + (name ? 1 : 0) + suffix.length;
  for (let n = 0; n < count; n++) {
    const item = itemAt(node, n)!;
    if (item.type === 'HereDoc') return false;
    // `<2>x`: Bash reads the 2 as a descriptor and fails, the parser reads it as a file name.
    if (item.type === 'Redirect' && !item.operator.includes('&') && /^\d+$/.test(item.target?.text ?? '')) {
      if (itemAt(node, n + 1)?.pos === item.end) return false;
    }
    if (!gaps.advance(item.pos, item.end, n + 1 < count ? undefined : next)) return false;
  }
  return count > 0;
}

function itemAt(
  { prefix, name, suffix }: U.Command,
  n: number,
): U.Command['prefix'][number] | U.Command['suffix'][number] | undefined {
  if (n < prefix.length) return prefix[n];
  if (!name) return suffix[n - prefix.length];
  return n === prefix.length ? name : suffix[n - prefix.length - 1];
}

function fits(source: string, from: number, to: number, expected: string | undefined): boolean {
  // One space: by far the most common gap.
  if (expected === undefined && to === from + 1 && source.charCodeAt(from) === 32) return true;
  const gap = source.slice(from, to);
  if (expected !== undefined && COMMON[expected]?.includes(gap)) return true;
  const content = readGap(gap, expected === 'start');
  if (content === undefined) return false;
  if (expected === undefined) return content.operator === '' && !content.newline && !content.comment;
  if (expected === 'start') return content.operator === '';
  if (expected === 'end') return content.operator === '' || content.operator === ';';
  return content.operator === expected || (expected === ';' && content.operator === '' && content.newline);
}

/** The usual gaps with each operator. */
const COMMON: Readonly<Record<string, readonly string[]>> = {
  ';': ['; ', '\n', ';'],
  '&&': [' && '],
  '||': [' || '],
  '|': [' | ', '|'],
  start: [''],
  end: [''],
};

interface Gap {
  operator: string;
  newline: boolean;
  comment: boolean;
}

/** Spaces, newlines, comments and at most one operator on the line of the preceding word. */
function readGap(gap: string, atStart: boolean): Gap | undefined {
  const content: Gap = { operator: '', newline: false, comment: false };
  let atWordStart = atStart;
  for (let at = 0; at < gap.length;) {
    const c = gap[at]!;
    if (c === ' ' || c === '\t') at++;
    else if (c === '\\' && gap[at + 1] === '\n') {
      // A joined line continues in the middle of a word, so a `#` does not start a comment.
      at += 2;
      continue;
    } else if (c === '\n') {
      content.newline = true;
      at++;
    } else if (c === '#' && atWordStart) {
      content.comment = true;
      const end = gap.indexOf('\n', at);
      at = end < 0 ? gap.length : end;
    } else {
      const operator = OPERATORS.find((sign) => gap.startsWith(sign, at));
      if (operator === undefined || content.operator !== '' || content.newline) return undefined;
      content.operator = operator;
      at += operator.length;
    }
    atWordStart = true;
  }
  return content;
}

const OPERATORS = ['&&', '||', '|&', '|', '&', ';'];
