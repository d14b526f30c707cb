/**
 * Matches the regular expressions of a script, which may come from a stranger, against text that
 * models write. An expression that could run for ever gets a limited time.
 */
import vm from 'node:vm';
import { readPattern } from '../../../text/config/guarded-pattern.js';

const MATCH_MS = 500;

/** Throws an Error that names the expression if it takes too long. */
export function matchOf(pattern: RegExp, text: string): RegExpExecArray | null {
  const guarded = readPattern(String(pattern));
  if (guarded.ok && text.length <= guarded.pattern.maxInput) return pattern.exec(text);
  try {
    return vm.runInNewContext('pattern.exec(text)', { pattern, text }, { timeout: MATCH_MS }) as RegExpExecArray | null;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
    const message = `the expression ${String(pattern)} takes too long on a text of ${text.length} characters`;
    throw new Error(message, { cause: thrown });
  }
}
