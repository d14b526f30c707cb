/**
 * The scope of a thrown error. An error about one file holds that file, an error of one task ends
 * that task, and only a fault of the store itself affects the whole process.
 */
import { diskReason, problem, type Problem } from './problem.js';

/** A file or folder that the system, or a parser's limit, did not let us read. */
export interface Unreadable {
  kind: 'unreadable';
  problem: Problem;
}

/** Runs a read of one file or folder. An error becomes a Problem that names the file. */
export function fenced<T>(file: string, read: () => T): T | Unreadable {
  try {
    return read();
  } catch (thrown) {
    if (!concernsOneFile(thrown)) throw thrown;
    return { kind: 'unreadable', problem: unreadableProblem(file, thrown) };
  }
}

export function isUnreadable(value: unknown): value is Unreadable {
  return typeof value === 'object' && value !== null && (value as Partial<Unreadable>).kind === 'unreadable';
}

function unreadableProblem(file: string, thrown: unknown): Problem {
  const { message } = thrown as Error;
  const reason = diskReason(thrown) ?? message;
  return problem('bad_file', `${file} cannot be read: ${reason}`, {
    where: { file },
    hint: 'fix its permissions or move it away; it is ignored until it can be read',
  });
}

/** Errors of the system, and of a parser that reached a limit of the language. */
function concernsOneFile(thrown: unknown): boolean {
  if (thrown instanceof RangeError || thrown instanceof TypeError || thrown instanceof SyntaxError) return true;
  return thrown instanceof Error && /^E[A-Z0-9_]+$/.test((thrown as { code?: string }).code ?? '');
}

/**
 * Errors after which no write can be relied on: the disk is full, broken, read-only or gone, or the
 * process may not open more files. A path that is too long or leads nowhere concerns one file and
 * is not listed.
 */
const STORE_FAULTS: ReadonlySet<string> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EACCES',
  'EPERM',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'ENOENT',
  'ENOTDIR',
  'ENODEV',
  'ENXIO',
  'ESTALE',
  'EXDEV',
  'EBUSY',
]);

/**
 * Thrown to everything that waits for a store that can no longer be written: nothing more is
 * acknowledged until it is opened again.
 */
export class StoreFailed extends Error {
  readonly code: string | undefined;
  readonly path: string | undefined;
  readonly syscall: string | undefined;

  constructor(
    what: string,
    override readonly cause: unknown,
  ) {
    const { code, path, syscall, message } = cause as {
      code?: string;
      path?: string;
      syscall?: string;
      message?: string;
    };
    super(`${what}: ${message}`);
    this.code = code;
    this.path = path;
    this.syscall = syscall;
  }
}

/** Whether the store failed under its process, as opposed to one task or one file. */
export function isStoreFault(thrown: unknown): boolean {
  const { code, problem: carried } = (thrown ?? {}) as { code?: unknown; problem?: Problem };
  if (carried?.code === 'store_away' || carried?.code === 'declared_dead') return true;
  return typeof code === 'string' && STORE_FAULTS.has(code) && diskReason(thrown) !== undefined;
}
