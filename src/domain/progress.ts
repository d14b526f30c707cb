/**
 * The present activity of a working process. It is shown to people and stored in no file; losing it
 * affects only the display.
 */
export type Progress = { task: string; root: string; agent: string } & (
  | { kind: 'thinking' }
  /** Words of the running turn. */
  | { kind: 'words'; text: string }
  | { kind: 'tool'; tool: string; argument: string }
  /** A long tool call says how far it is. */
  | { kind: 'report'; tool: string; line: string }
  | { kind: 'result'; tool: string; ok: boolean; line: string }
);

const MAX_SHOWN_CHARS = 400;

/** The first line with words, cut. */
export function shownLine(text: string): string {
  const line = text.split('\n').find((one) => one.trim() !== '') ?? '';
  return line.trim().slice(0, MAX_SHOWN_CHARS);
}

/** The argument of a call that tells it apart: a path, a command, a name. */
export function shownArgument(args: Record<string, unknown>): string {
  for (const name of NAMES) if (typeof args[name] === 'string') return shownLine(args[name]);
  const [first] = Object.values(args);
  return first === undefined ? '' : shownLine(typeof first === 'string' ? first : JSON.stringify(first));
}

const NAMES = ['command', 'path', 'question', 'agent', 'query', 'url', 'task', 'title', 'name', 'summary', 'message'];
