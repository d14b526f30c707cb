/** Something wrong with a value, by its path in the file; a Problem once its place is known. */
import { problem, type Problem, type ProblemCode, type Where } from '../../domain/problem.js';

export type Path = readonly (string | number)[];

/**
 * Places in a document. A path that does not exist has the place of the nearest value around it.
 */
export interface Places {
  key(path: Path): Where;
  value(path: Path): Where;
}

export interface Fault {
  path: Path;
  message: string;
  code: ProblemCode;
  side: 'key' | 'value';
  hint?: string;
  /** The known key that was probably meant. */
  meant?: string;
}

export function fault(path: Path, message: string, more: Partial<Fault> = {}): Fault {
  return { code: 'bad_field', side: 'value', ...more, path, message };
}

export function placed({ message, code, hint, meant }: Fault, where: Where): Problem {
  return problem(code, message, { where, hint, meant });
}

/** How a message names the value at a path: `"limits.depth"`, or `item 3` if the file is a list. */
export function nameOf(path: Path): string {
  const [first, ...rest] = path;
  if (first === undefined) return 'this file';
  if (typeof first === 'string') return `"${path.join('.')}"`;
  return rest.length === 0 ? `item ${first + 1}` : `"${rest.join('.')}"`;
}

/** In the order of their places in the file. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const at = ({ where }: Problem): number => (where?.line ?? 0) * 100_000 + (where?.column ?? 0);
  return problems.toSorted((a, b) => at(a) - at(b));
}
