/**
 * Whether a pattern with wildcards stands for a text. It steps back only to the last wildcard that takes any number of characters, and no regular
 * expression is made from foreign text: so no pattern is slow.
 */
export interface Wildcards<P> {
  /** Stands for any number of characters, none too. */
  isMany(part: P): boolean;
  /** Stands for this one character. */
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

/** `*` any text, slashes too; `?` any one character. */
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
