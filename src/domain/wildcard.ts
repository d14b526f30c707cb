/**
 * Matches a text against a pattern with wildcards. It backtracks only to the last `*`, and no
 * regular expression is built from foreign text, so no pattern is slow.
 */
export interface Wildcards<P> {
  /** Matches any number of characters, including none. */
  isMany(part: P): boolean;
  /** Matches this one character. */
  isOne(part: P, char: string): boolean;
}

export function fitsPattern<P>(
  pattern: ArrayLike<P>,
  text: ArrayLike<string>,
  { isMany, isOne }: Wildcards<P>,
): boolean {
  let part = 0;
  let at = 0;
  let many = -1;
  let retry = 0;
  while (at < text.length) {
    if (part < pattern.length && isMany(pattern[part]!)) {
      many = part++;
      retry = at;
    } else if (part < pattern.length && isOne(pattern[part]!, text[at]!)) {
      part++;
      at++;
    } else if (many >= 0) {
      part = many + 1;
      at = ++retry;
    } else return false;
  }
  while (part < pattern.length && isMany(pattern[part]!)) part++;
  return part === pattern.length;
}

/** `*` matches any text, including slashes; `?` matches one character. */
export function globFits(glob: string, text: string): boolean {
  return fitsPattern(glob, text, GLOB);
}

const GLOB: Wildcards<string> = {
  isMany: (part) => part === '*',
  isOne: (part, char) => part === '?' || part === char,
};

/** Like `globFits`, ignoring case. */
export function globFitsAnyCase(glob: string, text: string): boolean {
  return globFits(glob.toLowerCase(), text.toLowerCase());
}
