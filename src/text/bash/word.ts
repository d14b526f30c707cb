/**
 * A second, independent reading of the quotes in a Bash word, to compare with the parser's. If it
 * finds nothing that depends on run time, its value must equal the parser's; otherwise the line
 * counts as not understood. This guards the arguments that a program would get.
 */

interface ScannedWord {
  /** After quote removal; undefined if it is known only at run time. */
  value?: string;
  glob: boolean;
  tilde: boolean;
  dollarQuote: boolean;
  odd: boolean;
}

export function scanWord(text: string): ScannedWord {
  const word: ScannedWord = { glob: false, tilde: false, dollarQuote: false, odd: false };
  let value = '';
  let isFixed = true;
  const braces = new BraceWatch();
  for (let at = 0; at < text.length;) {
    const c = text[at]!;
    if (c === '\\') {
      // A backslash at the very end is literal. A backslash before a newline joins lines first, so
      // the value is known only at run time.
      if (at + 1 >= text.length) value += '\\';
      else if (text[at + 1] === '\n') isFixed = false;
      else value += text[at + 1];
      if ((text.charCodeAt(at + 1) || 0) > 126) word.odd = true;
      at += 2;
    } else if (c === "'") {
      const end = text.indexOf("'", at + 1);
      if (end < 0) return { ...word, odd: true };
      value += text.slice(at + 1, end);
      at = end + 1;
    } else if (c === '"' || (c === '$' && text[at + 1] === '"')) {
      if (c === '$') word.dollarQuote = true;
      const quoted = scanDouble(text, at + (c === '$' ? 2 : 1));
      if (quoted === undefined) return { ...word, odd: true };
      isFixed &&= quoted.isFixed;
      value += quoted.value;
      at = quoted.end;
    } else if (c === '$' && text[at + 1] === "'") {
      word.dollarQuote = true;
      const end = endOfAnsi(text, at + 2);
      if (end < 0) return { ...word, odd: true };
      isFixed = false;
      at = end + 1;
    } else {
      if (isOpen(text, at)) isFixed = false;
      if (c === '~' && (at === 0 || text[at - 1] === '=' || text[at - 1] === ':')) {
        if (at === 0) word.tilde = true;
        else isFixed = false;
      }
      if (c === '*' || c === '?' || c === '[') word.glob = true;
      if (c < ' ' || c > '~') word.odd = true;
      braces.see(text, at);
      value += c;
      at++;
    }
  }
  if (isFixed && !braces.found) word.value = value;
  return word;
}

/** The inside of "…", from `at` on; undefined if it never ends. */
function scanDouble(text: string, at: number): { value: string; isFixed: boolean; end: number } | undefined {
  let value = '';
  for (; at < text.length; at++) {
    const c = text[at]!;
    if (c === '"') return { value, isFixed: true, end: at + 1 };
    // After an expansion the value is unknown, so the end of the quotes does not matter here.
    if (c === '`' || (c === '$' && startsExpansion(text[at + 1]))) return { value, isFixed: false, end: text.length };
    if (c === '\\' && at + 1 < text.length && '$`"\\\n'.includes(text[at + 1]!)) {
      if (text[at + 1] !== '\n') value += text[at + 1];
      at++;
    } else value += c;
  }
  return undefined;
}

function startsExpansion(next: string | undefined): boolean {
  return next !== undefined && /[A-Za-z0-9_@*#?$!({[\\-]/.test(next);
}

function isOpen(text: string, at: number): boolean {
  const c = text[at]!;
  if (c === '`' || c === '(' || c === ')' || c === '<' || c === '>') return true;
  return c === '$' && startsExpansion(text[at + 1]);
}

/**
 * Detects a possible brace expansion, unquoted `{ … , … }` or `{ … .. … }`. May report too many.
 */
class BraceWatch {
  found = false;
  private open = false;
  private split = false;
  see(text: string, at: number): void {
    const c = text[at]!;
    if (c === '{') this.open = true;
    else if (this.open && (c === ',' || (c === '.' && text[at + 1] === '.'))) this.split = true;
    else if (c === '}' && this.split) this.found = true;
  }
}

function endOfAnsi(text: string, at: number): number {
  for (; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === "'") return at;
  }
  return -1;
}
