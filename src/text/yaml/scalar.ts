/**
 * Values as YAML text, printed by hand: appending a message must be cheap and the text readable.
 * Text of several lines becomes a literal block. Text that a parser or an editor could change
 * (control characters, odd line ends, lone surrogates) becomes a double-quoted scalar with escapes.
 * `js-yaml` and `yaml` read the same value back.
 */

/**
 * One scalar. The lines of a block are indented by `indent`, and its key by two columns less.
 * `explicit` chooses a form that shows a cut: a block that states its indentation, or quotes.
 */
export function yamlText(text: string, indent: number, explicit = false): string {
  if (text === '') return "''";
  if (RISKY.test(text) || LONE_SURROGATE.test(text)) return quoted(text);
  if (text.includes('\n')) return BLANK_EDGE.test(text) ? quoted(text) : block(text, indent, explicit);
  if (!explicit && isPlainText(text)) return text;
  // half of a doubled quote looks like the end of the text, so doubled quotes are not used where a
  // cut must show
  return text.includes('\t') || (explicit && text.includes("'")) ? quoted(text) : `'${text.replaceAll("'", "''")}'`;
}

/** Like `yamlText`, but always on one line. */
export function yamlLine(text: string): string {
  return text.includes('\n') ? quoted(text) : yamlText(text, 0);
}

/** A JSON value for a key that is indented by `indent - 2`: on the line of the key, or below it. */
export function yamlValue(value: unknown, indent: number): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? ' []' : value.map((item) => `\n${pad(indent)}-${yamlItem(item, indent + 2)}`).join('');
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    if (fields.length === 0) return ' {}';
    return fields.map(([key, field]) => `\n${pad(indent)}${yamlKey(key)}:${yamlValue(field, indent + 2)}`).join('');
  }
  return ` ${yamlScalar(value, indent)}`;
}

/** Whether a parser with our limits on depth and keys reads back what `yamlValue` prints. */
export function fitsYaml(value: unknown, levels = 24): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((item) => fitsYaml(item, levels - 1));
  return Object.entries(value).every(([key, field]) => key.length <= 200 && fitsYaml(field, levels - 1));
}

/** Characters that YAML forbids or folds, or that editors change, except tab and newline. */
// oxlint-disable-next-line no-control-regex
const RISKY = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u2028\u2029\ufeff\ufffe\uffff]/;
const LONE_SURROGATE = /\p{Surrogate}/u;
/** Text that begins or ends with a line of blanks: parsers disagree on such blocks. */
const BLANK_EDGE = /^[ \t]*[ \t](?:\n|$)|^\n+[ \t]|\n[ \t]+\n*$|^\n+$/;
const PLAIN = /^[A-Za-z][A-Za-z0-9_./()+-]*(?:[ ,;]+[A-Za-z0-9_./()+'!?%&=@$][A-Za-z0-9_./()+'!?%&=@$-]*)*$/;
/** Words that some version of YAML reads as another type. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$/i;

/** Whether no parser changes a character of the text. */
export function loadsAsWritten(text: string): boolean {
  return !RISKY.test(text);
}

/** Whether every parser reads the text as this string without quotes. */
export function isPlainText(text: string): boolean {
  return PLAIN.test(text) && !RESERVED.test(text);
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(UNSEEN_IN_JSON, escape);
}

/** Characters that JSON does not escape and YAML must. */
const UNSEEN_IN_JSON = /[\u007f-\u00a0\u00ad\u2028\u2029\ufeff\ufffe\uffff]/g;

function escape(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function block(text: string, indent: number, explicit: boolean): string {
  const stated = explicit || /^[ \t\n]/.test(text) ? '2' : '';
  const chomp = text.endsWith('\n') ? (text.endsWith('\n\n') ? '+' : '') : '-';
  const lines = `\n${text.endsWith('\n') ? text.slice(0, -1) : text}`;
  return `|${stated}${chomp}${lines.replace(/\n(?=[^\n])/g, `\n${pad(indent)}`)}`;
}

function yamlItem(item: unknown, indent: number): string {
  const value = yamlValue(item, indent);
  // a mapping or list inside a list starts on the line of its dash
  return value.startsWith('\n') ? ` ${value.slice(indent + 1)}` : value;
}

function yamlKey(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) && !RESERVED.test(key) ? key : quoted(key);
}

function yamlScalar(value: unknown, indent: number): string {
  if (typeof value === 'string') return yamlText(value, indent);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return 'null';
}

const PADS = Array.from({ length: 64 }, (_, width) => ' '.repeat(width));

function pad(width: number): string {
  return PADS[width] ?? ' '.repeat(width);
}
