/**
 * Accounts for every character of a script that is nothing but simple commands in pipelines and lists. Between two words
 * of a command only blanks may stand; between two commands exactly the operator that the tree says. A tolerant parser that skipped
 * or invented something is found out here, without a second grammar.
 */
import type * as U from 'unbash';

interface Span {
  pos: number;
  end: number;
  /** What must stand between this span and the next one; undefined inside a command. */
  next?: string;
}

export function isPlain(script: U.Script, source: string): boolean {
  const spans: Span[] = [];
  for (const statement of script.commands) {
    const node = statement.command;
    const parts = node.type === 'AndOr' ? node.commands : [node];
    const operators = node.type === 'AndOr' ? node.operators : [];
    for (const [n, part] of parts.entries()) {
      if (!addPipeline(part, spans)) return false;
      spans.at(-1)!.next = operators[n] ?? (statement.background ? '&' : ';');
    }
  }
  let at = 0;
  let expected: string | undefined = 'start';
  for (const span of spans) {
    if (span.pos < at || !fits(source.slice(at, span.pos), expected)) return false;
    at = span.end;
    expected = span.next;
  }
  return fits(source.slice(at), spans.length === 0 ? 'start' : expected === ';' ? 'end' : expected);
}

/** False unless it is a simple command or a pipeline of such. */
function addPipeline(node: U.PipelineNode, spans: Span[]): boolean {
  if (node.type === 'Command') return addCommand(node, spans);
  if (node.type !== 'Pipeline' || node.prefixes.length > 0 || node.commands.length === 0) return false;
  return node.commands.every((command, n) => {
    if (command.type !== 'Command' || !addCommand(command, spans)) return false;
    spans.at(-1)!.next = node.operators[n];
    return true;
  });
}

function addCommand(node: U.Command, spans: Span[]): boolean {
  const items = [...node.prefix, ...(node.name ? [node.name] : []), ...node.suffix];
  for (const [n, item] of items.entries()) {
    if (item.type === 'HereDoc') return false;
    // `<2>x`: Bash takes the 2 for a descriptor and gives up, the parser takes it for a name.
    const glued = items[n + 1]?.pos === item.end && item.type === 'Redirect' && !item.operator.includes('&');
    if (glued && /^\d+$/.test(item.target?.text ?? '')) return false;
    spans.push({ pos: item.pos, end: item.end });
  }
  return items.length > 0;
}

function fits(gap: string, expected: string | undefined): boolean {
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
