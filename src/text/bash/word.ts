/**
 * One word of Bash: an own, small reading of its quotes, to hold against the parser's. Where this reading finds
 * nothing that waits for run time, its value must equal the parser's, else the line counts as not understood. It is the
 * second pair of eyes on the one thing that matters: which words a program would be given.
 */

interface ScannedWord {
  /** After quote removal; undefined when known only at run time. */
  value?: string;
  glob: boolean;
  tilde: boolean;
  dollarQuote: boolean;
  odd: boolean;
}

export function scanWord(text: string): ScannedWord {
  const word: ScannedWord = { glob: false, tilde: false, dollarQuote: false, odd: false };
  let value = '';
  let known = true;
  const braces = new BraceWatch();
  for (let at = 0; at < text.length;) {
    const c = text[at]!;
    if (c === '\\') {
      // A backslash at the very end stands for itself. One before a newline joins lines before anything else is read,
      // so what stands on both sides of it is left to the running shell.
      if (at + 1 >= text.length) value += '\\';
      else if (text[at + 1] === '\n') known = false;
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
      known &&= quoted.known;
      value += quoted.value;
      at = quoted.end;
    } else if (c === '$' && text[at + 1] === "'") {
      word.dollarQuote = true;
      const end = endOfAnsi(text, at + 2);
      if (end < 0) return { ...word, odd: true };
      known = false;
      at = end + 1;
    } else {
      if (isOpen(text, at)) known = false;
      if (c === '~' && (at === 0 || text[at - 1] === '=' || text[at - 1] === ':')) {
        if (at === 0) word.tilde = true;
        else known = false;
      }
      if (c === '*' || c === '?' || c === '[') word.glob = true;
      if (c < ' ' || c > '~') word.odd = true;
      braces.see(text, at);
      value += c;
      at++;
    }
  }
  if (known && !braces.found) word.value = value;
  return word;
}

/** The inside of "…", from `at` on; undefined if it never ends. */
function scanDouble(text: string, at: number): { value: string; known: boolean; end: number } | undefined {
  let value = '';
  for (; at < text.length; at++) {
    const c = text[at]!;
    if (c === '"') return { value, known: true, end: at + 1 };
    // Past an expansion the end of the quotes is the parser's business; the value is unknown anyway.
    if (c === '`' || (c === '$' && startsExpansion(text[at + 1]))) return { value, known: false, end: text.length };
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

/** Whether unquoted `{ … , … }` or `{ … .. … }` may be a brace expansion. Generous: what it misses would be a hole. */
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
