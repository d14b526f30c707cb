/** The question about a workspace that wants to act: it shows every part, or the difference. */
import { changedParts, partsOf, type Acting, type Part, type TrustRecord } from '../domain/consent/trust.js';
import { problem, type Problem } from '../domain/problem.js';

interface Asked {
  record: TrustRecord;
  acting: Acting;
  digest: string;
}

/** The parts that were never trusted, or their differences from the trusted version. */
export function wanted({ record, acting }: Omit<Asked, 'digest'>): Part[] {
  return record.trusted === undefined ? partsOf(acting) : changedParts(record.trusted.acting, acting);
}

/** Enough to see what kind of thing it is; `guild trust` shows all of it. */
const MAX_LINES = 12;

export function question(trust: Asked, isKnown: boolean): Problem {
  const parts = wanted(trust);
  const isNew = trust.record.trusted === undefined;
  const what = isNew
    ? 'this workspace is not trusted yet, so it runs restricted: no plugin, no provider of its own, and every action asks'
    : 'this workspace has changed since you trusted it; the parts that you trusted stay in force';
  const names = `${isNew ? 'It wants' : 'It changes'}: ${parts.map(({ name }) => name).join(', ')}`;
  const lines = isKnown ? [names] : parts.flatMap(partLines);
  return problem('needs_human', [what, ...lines.map((line) => `  ${line}`)].join('\n'), {
    hint: `guild trust shows all of it and asks; without a terminal: guild trust --digest ${trust.digest}`,
  });
}

function partLines({ name, lines }: Part): string[] {
  const rest = lines.length - MAX_LINES;
  const shown = lines.slice(0, rest > 1 ? MAX_LINES : lines.length).map((line) => `  ${line}`);
  return [name, ...shown, ...(rest > 1 ? [`  … ${rest} more lines`] : [])];
}
