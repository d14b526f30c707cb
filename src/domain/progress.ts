/**
 * What a working process is doing now. It is shown to people and stored in no file; losing it
 * affects only the display.
 */
export type Progress = { task: string; root: string; agent: string } & (
  | { kind: 'thinking' }
  /** Words of the running turn. */
  | { kind: 'words'; text: string }
  | { kind: 'tool'; tool: string; argument: string }
  /** A long tool call reports how far it is. */
  | { kind: 'report'; tool: string; line: string }
  /** `rest`: a few lines after it. */
  | ({ kind: 'result'; tool: string; ok: boolean } & ShownResult)
);

interface ShownResult {
  line: string;
  rest?: string[];
}

const MAX_SHOWN_CHARS = 400;
const MAX_REST = 4;
const MAX_REST_CHARS = 160;

/** The first lines of a result: its findings say more than its success. */
export function shownResult(text: string): ShownResult {
  const [line = '', ...rest] = text
    .replace(/^exit code 0\n(?=.*\S)/, '')
    .split('\n')
    .filter((one) => one.trim() !== '');
  const shown = { line: line.trim().slice(0, MAX_SHOWN_CHARS) };
  return rest.length === 0
    ? shown
    : { ...shown, rest: rest.slice(0, MAX_REST).map((one) => one.slice(0, MAX_REST_CHARS)) };
}

/** The first line with words, cut. */
export function shownLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.trim().slice(0, MAX_SHOWN_CHARS);
}

/** The argument that tells one call from another: a path, a command, a name. */
export function shownArgument(args: Record<string, unknown>): string {
  for (const name of NAMES) if (typeof args[name] === 'string') return shownLine(args[name]);
  const [first] = Object.values(args);
  return first === undefined ? '' : shownLine(typeof first === 'string' ? first : JSON.stringify(first));
}

const NAMES = [
  'command',
  'path',
  'question',
  'agent',
  'query',
  'url',
  'task',
  'title',
  'name',
  'summary',
  'message',
  'status',
];
