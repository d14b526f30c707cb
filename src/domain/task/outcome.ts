/**
 * The recorded end of an effect: the text of its result, or the code and message of its failure.
 */
import type { ProblemCode } from '../problem.js';
import type { FileRef } from '../file-ref.js';
import type { Question } from './question.js';

/** `asks`: the effect stopped at a question. The answer continues it as a further effect. */
export type Outcome =
  | { ok: true; text: string; files?: FileRef[]; asks?: Question }
  | { ok: false; code: ProblemCode; text: string };
