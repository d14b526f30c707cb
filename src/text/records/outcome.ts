/**
 * Outcomes of effects as `.guild/run/<id>.started` keeps them. Records from before the field `code`
 * have the code of a failure at the start of its text; only this file reads them.
 */
import { parseMapping } from '../../domain/mapping.js';
import { defined } from '../../domain/defined.js';
import type { Outcome } from '../../domain/task/outcome.js';
import { readFileRefs } from '../../domain/file-ref.js';
import { isProblemCode } from '../../domain/problem.js';
import { isQuestion } from '../../domain/task/question.js';

export function printOutcome(outcome: Outcome): string {
  return JSON.stringify(outcome);
}

/** Undefined if the text is not an outcome, for example because a power cut left it torn. */
export function parseOutcome(text: string): Outcome | undefined {
  const fields = parseMapping(text);
  if (fields === undefined) return undefined;
  const { ok, code } = fields;
  const content = typeof fields['text'] === 'string' ? fields['text'] : '';
  const files = readFileRefs(fields['files']);
  const { asks } = fields;
  if (ok === true && isQuestion(asks)) return { ok, text: content, asks };
  if (ok === true) return defined<Outcome>({ ok, text: content, files: files.length > 0 ? files : undefined });
  return isProblemCode(code) ? { ok: false, code, text: content } : withoutCode(content);
}

function withoutCode(text: string): Outcome {
  const [, code, message] = /^(\w+): ([^]*)$/.exec(text) ?? [];
  return isProblemCode(code) ? { ok: false, code, text: message! } : { ok: false, code: 'tool_failed', text };
}
