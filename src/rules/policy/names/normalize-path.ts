/**
 * The spelling of paths. `judgeSpelling` refuses spellings that no honest path has, before the disk
 * is accessed. `foldedParts` reduces every disguise of a name to one form, so that a protected name
 * is recognised in all of them.
 */

const MAX_PATH_BYTES = 4096;
const MAX_PART_BYTES = 255;

/** Judges a path as the model wrote it. A refused path is never looked up. */
export function judgeSpelling(path: unknown): { verdict: 'ok' | 'refuse'; reason: string } {
  const reason = misspelled(path);
  return reason === undefined ? { verdict: 'ok', reason: 'plainly spelled' } : { verdict: 'refuse', reason };
}

/**
 * The folded parts of a path, with `.` and `..` resolved; undefined if the folded path leaves its
 * starting point. For comparison only: never open the result.
 */
export function foldedParts(path: string): string[] | undefined {
  const parts: string[] = [];
  for (const part of fold(path).split('/')) {
    const name = foldedPart(part);
    if (name === '' || name === '.') continue;
    if (name !== '..') parts.push(name);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts;
}

export function hasControl(path: string): boolean {
  return CONTROL.test(path) || BIDI.test(path);
}

function misspelled(path: unknown): string | undefined {
  if (typeof path !== 'string') return 'a path must be a string';
  if (path.trim() === '') return 'the path is empty; the workspace itself is "."';
  if (path.includes('\0')) return 'it contains a NUL character';
  if (CONTROL.test(path)) return 'it contains a control character';
  if (BIDI.test(path)) return 'it contains a character that changes the direction of text';
  if (/\p{Surrogate}/u.test(path)) return 'it contains half of a surrogate pair';
  if (bytes(path) > MAX_PATH_BYTES) return `it is longer than ${MAX_PATH_BYTES} bytes`;
  if (path.split('/').some((part) => bytes(part) > MAX_PART_BYTES)) {
    return `one of its names is longer than ${MAX_PART_BYTES} bytes`;
  }
  if (/^~/.test(path)) return 'a home folder is outside the workspace';
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path) || /^file:/i.test(path)) return 'it is a URL, not a path';
  if (/^[a-z]:([\\/]|$)/i.test(path) || path.startsWith('\\\\')) return 'it names a drive outside the workspace';
  if (climbsInDisguise(path)) return 'its name reads like a path out of the workspace';
  return undefined;
}

/** A plain `../` is left to the resolver. A `../` that appears only after decoding is a trick. */
function climbsInDisguise(path: string): boolean {
  const folded = fold(path);
  if (path.startsWith('/')) return countUps(folded) !== countUps(path);
  return folded.startsWith('/') || (foldedParts(path) === undefined && countUps(folded) !== countUps(path));
}

function countUps(path: string): number {
  return path.split('/').filter((part) => part === '..' || foldedPart(part) === '..').length;
}

// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Characters that look like `/` or `\` and that no Unicode normal form folds. */
const SLASHES = /[\\\u2044\u2215\u29f5\u29f8\u29f9\ufe68]/g;
/** Letters of other scripts that look like the Latin ones in protected names. */
const LOOKALIKES = new Map(
  'аa еe оo сc рp хx уy ѕs іi јj ӏl ԁd ɡg ɩi οo αa ιi νv τt κk εe ηn υu ոn ցg'
    .split(' ')
    .map((pair) => [pair[0]!, pair[1]!]),
);

/** Printable ASCII without `%` and `\`: nothing to decode, and no letter has another form. */
const PLAIN = /^[\x20-\x24\x26-\x5b\x5d-\x7e]*$/;

function fold(path: string): string {
  if (PLAIN.test(path)) return path.toLowerCase();
  let text = path;
  for (let round = 0; round < 3; round++) {
    const next = decoded(text)
      .normalize('NFKD')
      .replace(/\p{M}|\p{Default_Ignorable_Code_Point}/gu, '');
    if (next === text) break;
    text = next;
  }
  // Letters such as ı and ſ become plain only through upper case.
  return text
    .replace(SLASHES, '/')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, (letter) => LOOKALIKES.get(letter) ?? letter);
}

/** Some systems drop trailing dots and blanks, and a stream name after a colon. */
function foldedPart(part: string): string {
  const bare = part.replace(/^\s+|\s+$/g, '');
  if (bare === '.' || bare === '..') return bare;
  const name = bare.replace(/:.*$/s, '').replace(/[\s.]+$/, '');
  return name === '' && bare !== '' && !bare.startsWith(':') ? '..' : name;
}

/** Decodes `%2e`, `\x2e`, `\u002e` and `%u002e`. */
function decoded(text: string): string {
  return text
    .replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
      try {
        return decodeURIComponent(run);
      } catch {
        return run.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
      }
    })
    .replace(/\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|%u([0-9a-f]{4})/gi, (_, a?: string, b?: string, c?: string) =>
      String.fromCharCode(parseInt((a ?? b ?? c)!, 16)),
    );
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
