/**
 * Accounts for every character of a script that is nothing but simple commands in pipelines and lists. Between two words
 * of a command only blanks may stand; between two commands exactly the operator that the tree says. A tolerant parser that skipped
 * or invented something is found out here, without a second grammar.
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

/** Walks through the source from one thing to the next. */
class Gaps {
  private at = 0;
  private expected: string | undefined = 'start';
  constructor(private readonly source: string) {}

  /** `next` is what must stand after this one; undefined inside a command. */
  thing(pos: number, end: number, next: string | undefined): boolean {
    const ok = pos >= this.at && fits(this.source, this.at, pos, this.expected);
    this.at = end;
    this.expected = next;
    return ok;
  }

  end(): boolean {
    return fits(this.source, this.at, this.source.length, this.expected === ';' ? 'end' : this.expected);
  }
}

/** False unless it is a simple command or a pipeline of such, with nothing unaccounted for in it. */
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
    // `<2>x`: Bash takes the 2 for a descriptor and gives up, the parser takes it for a name.
    if (item.type === 'Redirect' && !item.operator.includes('&') && /^\d+$/.test(item.target?.text ?? '')) {
      if (itemAt(node, n + 1)?.pos === item.end) return false;
    }
    if (!gaps.thing(item.pos, item.end, n + 1 < count ? undefined : next)) return false;
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
  // One blank, by far the most usual.
  if (expected === undefined && to === from + 1 && source.charCodeAt(from) === 32) return true;
  const gap = source.slice(from, to);
  const seen = readGap(gap, expected === 'start');
  if (seen === undefined) return false;
  if (expected === undefined) return seen.operator === '' && !seen.newline && !seen.comment;
  if (expected === 'start') return seen.operator === '';
  if (expected === 'end') return seen.operator === '' || seen.operator === ';';
  return seen.operator === expected || (expected === ';' && seen.operator === '' && seen.newline);
}

interface Gap {
  operator: string;
  newline: boolean;
  comment: boolean;
}

/** At most one operator, on the line of the word before it, among blanks, newlines and comments; undefined for anything else. */
function readGap(gap: string, atStart: boolean): Gap | undefined {
  const seen: Gap = { operator: '', newline: false, comment: false };
  let fresh = atStart;
  for (let at = 0; at < gap.length;) {
    const c = gap[at]!;
    if (c === ' ' || c === '\t') at++;
    else if (c === '\\' && gap[at + 1] === '\n') {
      // The joined line goes on in the middle of a word for all that follows, a comment sign included.
      at += 2;
      continue;
    } else if (c === '\n') {
      seen.newline = true;
      at++;
    } else if (c === '#' && fresh) {
      seen.comment = true;
      const end = gap.indexOf('\n', at);
      at = end < 0 ? gap.length : end;
    } else {
      const operator = OPERATORS.find((sign) => gap.startsWith(sign, at));
      if (operator === undefined || seen.operator !== '' || seen.newline) return undefined;
      seen.operator = operator;
      at += operator.length;
    }
    fresh = true;
  }
  return seen;
}

const OPERATORS = ['&&', '||', '|&', '|', '&', ';'];
