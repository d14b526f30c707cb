/**
 * A Problem is an error for a person or a model to act on. The command line, the dashboard, failed
 * tasks and tool results all use this shape. Expected outcomes (a lost claim, a missing file) are
 * plain values instead.
 */
import { defined } from './defined.js';

/** The closed list of codes. Programs may match on these; the words of `message` may change. */
export const PROBLEM_CODES = [
  'bad_file', // a file that does not parse
  'bad_field', // a file that parses and says something impossible
  'bad_name', // an id or name that cannot be a file name
  'unknown_key',
  'unknown_agent',
  'unknown_tool',
  'unknown_model',
  'duplicate',
  'cycle',
  'not_found',
  'not_allowed', // refused by policy
  'needs_human', // would need an approval
  'over_budget',
  'over_limit', // size, depth, count
  'cancelled',
  'by_hand', // a person did or dropped the work; dependent tasks continue
  'timed_out',
  'model_failed',
  'tool_failed',
  'dependency_failed',
  'gave_up', // the agent says that it could not do the task
  'off_goal', // two checks found that the result does not advance the goal
  'unknown_outcome', // an effect started, and its outcome is not known
  'taker_lost', // processes that worked on it died too often
  'deadlock', // tasks waited for each other in a cycle, and this one gave way
  'nobody_fit', // no agent can or will take it
  'not_a_move', // a change of state that the state table does not allow
  'forged', // a note or entry with a false author
  'disk_failed',
  'store_away', // the database does not answer
  'store_refused', // the database refuses: password, rights, schema
  'declared_dead', // other peers considered this process dead and took over its tasks
  'bad_usage', // a wrong command line
  'bug',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

export interface Where {
  file: string;
  /** 1-based; absent when the whole file is meant. */
  line?: number;
  column?: number;
  /** The source line itself, so that a caret can be drawn without reading the file again. */
  source?: string;
}

export interface Problem {
  code: ProblemCode;
  /** One sentence, without a final stop. */
  message: string;
  where?: Where;
  /** One safe next step. */
  hint?: string;
  /** For an unknown name: the known name that was probably meant. */
  meant?: string;
  /** For a quarantined file: where it is now, relative to the workspace. */
  movedTo?: string;
}

export function problem(code: ProblemCode, message: string, more: Omit<Problem, 'code' | 'message'> = {}): Problem {
  return defined<Problem>({ code, message, ...more });
}

export function isProblemCode(value: unknown): value is ProblemCode {
  return (PROBLEM_CODES as readonly unknown[]).includes(value);
}

/** Carries a Problem through code that cannot return it. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(p: Problem) {
    super(p.message);
    this.name = 'ProblemError';
    this.problem = p;
  }
}

/** The error to throw for a problem that is made on the spot. */
export function problemError(...of: Parameters<typeof problem>): ProblemError {
  return new ProblemError(problem(...of));
}

export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof ProblemError) return thrown.problem;
  const error = thrown as { code?: string; message?: string; path?: string; name?: string; problem?: Problem };
  // The library and the command line are separate bundles, so a plugin may throw another class.
  if (error?.name === 'ProblemError' && isProblemCode(error.problem?.code)) return error.problem;
  const message = diskReason(thrown);
  if (message) {
    return problem('disk_failed', error.path ? `${error.path}: ${message}` : message, {
      where: error.path ? { file: error.path } : undefined,
      hint:
        DISK_HINTS[error.code!] ??
        'free some space or fix the permissions, then run it again; acknowledged work is not lost',
    });
  }
  return problem('bug', error?.message ?? String(thrown));
}

const DISK_REASONS: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk reported an error',
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files on this system',
  ENOMEM: 'the system has no memory left',
  ENOENT: 'it is not there; the workspace may have been moved or deleted',
  ENOTDIR: 'a part of this path is a file, not a folder',
  EISDIR: 'it is a folder, not a file',
  ELOOP: 'too many links lead to each other',
  ENAMETOOLONG: 'the name is too long',
  EXDEV: 'it is on another device than the rest of the workspace',
  ENODEV: 'the device is gone',
  ENXIO: 'the device is gone',
  ESTALE: 'the file system lost it',
  EBUSY: 'the system is using it',
};

const DISK_HINTS: Record<string, string> = {
  EMFILE: 'raise the limit of open files (ulimit -n 1024), then run it again; acknowledged work is not lost',
  ENFILE: 'close other programs, then run it again; acknowledged work is not lost',
  ENOENT: 'put it back, or name the workspace with --workspace; acknowledged work is not lost',
  EXDEV: 'keep the whole workspace on one file system: make this a plain folder, not a mount or a link',
};

export function diskReason(thrown: unknown): string | undefined {
  const error = thrown as { code?: string; syscall?: string } | undefined;
  // On a read-only file system, Node reports "no such file" for a recursive mkdir.
  if (error?.code === 'ENOENT' && error.syscall === 'mkdir') return 'the folder cannot be created';
  if (error?.code === 'EEXIST' && error.syscall === 'mkdir') return 'a file is where this folder should be';
  // A program or a host that is missing is not a fault of the disk.
  if (error?.syscall !== undefined && /^(spawn|connect|getaddrinfo|listen|bind|kill)/.test(error.syscall))
    return undefined;
  return error?.code === undefined ? undefined : DISK_REASONS[error.code];
}

/** `file:line:column`, as editors and terminals link it. */
export function whereText(where: Where): string {
  return [where.file, where.line, where.column].filter((part) => part !== undefined).join(':');
}

/**
 * The whole Problem as plain text: sentence, place, caret, next step. Of a source line that is
 * wider than `width`, the part around the caret is shown.
 */
export function problemText(p: Problem, width = Infinity): string {
  // A message that starts with the name of the file already contains the place.
  const named = p.where !== undefined && p.where.line === undefined && p.message.startsWith(p.where.file);
  const lines = [p.where && !named ? `${whereText(p.where)}: ${p.message}` : p.message];
  if (p.where?.source !== undefined) {
    const { source, column } = partAround(p.where.source, p.where.column ?? 1, width - 2);
    lines.push(`  ${source}`);
    if (p.where.column !== undefined) lines.push(`  ${source.slice(0, column - 1).replace(/[^\t]/g, ' ')}^`);
  }
  if (p.hint) lines.push(`  ${p.hint}`);
  return lines.join('\n');
}

function partAround(source: string, column: number, width: number): { source: string; column: number } {
  if (source.length <= width || width < 3) return { source, column };
  const room = width - 2;
  const from = Math.max(0, Math.min(column - 1 - Math.floor(room / 2), source.length - room));
  const head = from > 0 ? '…' : '';
  const tail = from + room < source.length ? '…' : '';
  return { source: `${head}${source.slice(from, from + room)}${tail}`, column: column - from + head.length };
}
