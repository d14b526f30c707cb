/** Finds and reads the case files of a folder, or of one file. */
import fs from 'node:fs';
import path from 'node:path';
import type { EvalCase } from '../../domain/eval/eval-case.js';
import { problem, ProblemError, type Problem } from '../../domain/problem.js';
import { parseEvalCases } from '../../text/eval/cases.js';

interface CasesRead {
  cases: EvalCase[];
  problems: Problem[];
}

/** `from`: as typed; names in problems and ids are relative to `cwd`. */
export function readCases(cwd: string, from: string): CasesRead {
  const full = path.resolve(cwd, from);
  const stat = fs.statSync(full, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new ProblemError(
      problem('not_found', `there is no folder or file ${from}`, {
        hint: 'guild init makes evals/ with cases for its agents; docs/how-to/evaluate-a-model.md shows how to write your own',
      }),
    );
  const files = stat.isDirectory()
    ? fs
        .readdirSync(full)
        .filter((name) => /\.ya?ml$/.test(name))
        .sort()
        .map((name) => path.join(full, name))
    : [full];
  const read = files.map((file) => parseEvalCases(fs.readFileSync(file, 'utf8'), path.relative(cwd, file)));
  return { cases: read.flatMap(({ cases }) => cases), problems: read.flatMap(({ problems }) => problems) };
}
