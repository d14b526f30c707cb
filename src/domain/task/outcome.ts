/**
 * The recorded end of an effect: the text of its result, or the code and message of its failure.
 */
import type { ProblemCode } from '../problem.js';
import type { FileRef } from '../file-ref.js';

export type Outcome = { ok: true; text: string; files?: FileRef[] } | { ok: false; code: ProblemCode; text: string };
