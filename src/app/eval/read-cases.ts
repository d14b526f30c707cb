/** Finds and reads the case files of a folder, or of one file. */
import fs from 'node:fs';
import path from 'node:path';
import { attempt } from '../../domain/attempt.js';
import type { EvalCase } from '../../domain/eval/eval-case.js';
import { problem, type Problem, problemError } from '../../domain/problem.js';
import { parseEvalCases } from '../../text/eval/cases.js';
import { textIn } from '../trust/text-file.js';

interface CasesRead {
  cases: EvalCase[];
  problems: Problem[];
}

/** `from`: as typed; names in problems and ids are relative to `cwd`. */
export function readCases(cwd: string, from: string): CasesRead {
  const full = path.resolve(cwd, from);
  const stat = fs.statSync(full, { throwIfNoEntry: false });
  if (stat === undefined)
    throw problemError('not_found', `there is no folder or file ${from}`, {
      hint: 'guild init makes evals/ with cases for its agents; docs/how-to/evaluate-a-model.md shows how to write your own',
    });
  const files = stat.isDirectory()
    ? fs
        .readdirSync(full)
        .filter((name) => /\.ya?ml$/.test(name))
        .sort()
        .map((name) => path.join(full, name))
    : [full];
  const read = files.map((file) => {
    const name = path.relative(cwd, file);
    const text = attempt(() => textIn(file));
    if (text !== undefined) return parseEvalCases(text, name);
    return {
      cases: [],
      problems: [problem('bad_file', `${name} is not a small text file`, { where: { file: name } })],
    };
  });
  return { cases: read.flatMap(({ cases }) => cases), problems: read.flatMap(({ problems }) => problems) };
}
