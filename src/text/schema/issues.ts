/** Converts the issues of zod to faults: one for each thing that a person has to change. */
import type * as z from '../../schemas/zod.js';
import { fault, nameOf, type Fault, type Path } from './fault.js';

type Issue = z.core.$ZodIssue;

export interface Spelling {
  /** A path in the value as the file writes it. */
  written(path: Path): Path;
  /** The hint of the key at this path, for a person who gave it a wrong value. */
  hint(path: Path): string | undefined;
}

/** `value` is the value that zod checked. */
export function faultsOf(issues: readonly Issue[], value: unknown, { written, hint }: Spelling): Fault[] {
  return issues.flatMap((issue) => explain(issue, []));

  function explain(issue: Issue, base: Path): Fault[] {
    const path = [...base, ...(issue.path as Path)];
    const shown = written(path);
    if (issue.code === 'invalid_union') {
      const option = issue.errors.find((errors) => !errors.some(isOtherKind));
      if (option !== undefined && option.length > 0) return option.flatMap((inner) => explain(inner, path));
    }
    if (issue.code === 'invalid_key') {
      const message = `"${String(path.at(-1))}" must be ${issue.issues[0]!.message}`;
      return [fault(path, message, { code: 'bad_name', side: 'key' })];
    }
    if (issue.code === 'invalid_type' && issue.expected === 'never')
      return [fault(path, issue.message, { side: 'key', hint: hint(path) })];
    const params = issue.code === 'custom' ? issue.params : undefined;
    if (params?.['rule']) return [fault(path, issue.message, params['rule'])];
    if (path.length > 0 && !exists(value, path)) {
      const message = `${nameOf(shown.slice(0, -1))} needs "${String(shown.at(-1))}"`;
      return [fault(path.slice(0, -1), message, { hint: hint(path) })];
    }
    return [fault(path, `${nameOf(shown)} must be ${issue.message}`, { hint: hint(path), ...params })];
  }
}

/** The union alternative expects another kind of value, so its issue does not help. */
function isOtherKind(issue: Issue): boolean {
  if (issue.path.length > 0) return false;
  if (issue.code === 'invalid_union') return issue.errors.every((errors) => errors.some(isOtherKind));
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

function exists(value: unknown, path: Path): boolean {
  let inner = value;
  for (const segment of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, segment)) return false;
    inner = (inner as Record<string | number, unknown>)[segment];
  }
  return true;
}
