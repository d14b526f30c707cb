/** Reads a file of eval cases. */
import type { EvalCase, Pattern } from '../../domain/eval/eval-case.js';
import { defined } from '../../domain/defined.js';
import { problem, type Problem } from '../../domain/problem.js';
import { count } from '../../schemas/amounts.js';
import { evalYaml } from '../../schemas/eval-cases.js';
import { patternOf } from '../../schemas/script.js';
import { readPattern } from '../config/guarded-pattern.js';
import { readYaml } from '../schema/read-yaml.js';
import { textOf } from '../schema/values.js';

export function parseEvalCases(text: string, file: string): { cases: EvalCase[]; problems: Problem[] } {
  const { value = [], problems } = readYaml(evalYaml, file, text, []);
  if (problems.length > 0) return { cases: [], problems };
  const cases: EvalCase[] = [];
  for (const [i, given] of value.entries()) {
    const id = `${file}:${i + 1}`;
    if (given.task === undefined || given.expect === undefined) {
      problems.push(problem('bad_field', `case ${i + 1} needs "task" and "expect"`, { where: { file } }));
      continue;
    }
    const { expect } = given;
    const bad = patternsIn(given).flatMap(patternProblem)[0];
    if (bad !== undefined) problems.push(problem('bad_field', bad, { where: { file } }));
    else
      cases.push(
        defined<EvalCase>({
          id,
          about: textOf(given.about) ?? id,
          task: textOf(given.task)!,
          to: textOf(given.to),
          files: given.files ?? {},
          approve: given.approve ?? 'none',
          script: given.script === undefined ? undefined : JSON.stringify(given.script),
          expect: defined<EvalCase['expect']>({
            state: expect.state ?? 'completed',
            result: patterns(expect.result),
            notResult: patterns(expect.not_result),
            files: Object.entries(expect.files ?? {}).map(([path, has]) => ({ path, has: has && pattern(has) })),
            calls: list(expect.calls),
            noCalls: list(expect.no_calls),
            asks: list(expect.asks),
            judge: textOf(expect.judge),
            microUsd: expect.usd === undefined ? undefined : Math.round(expect.usd * 1e6),
            turns: expect.turns === undefined ? undefined : count(expect.turns),
          }),
        }),
      );
  }
  return { cases, problems };
}

type Given = NonNullable<ReturnType<typeof readYaml<typeof evalYaml>>['value']>[number];

function patternsIn({ expect = {} }: Given): string[] {
  return [expect.result ?? [], expect.not_result ?? [], ...Object.values(expect.files ?? {})]
    .flat()
    .filter((each) => each !== false);
}

/** A case may come from somebody else, so a pattern that could run for ever is refused. */
function patternProblem(text: string): string[] {
  if (patternOf(text) === undefined) return [`${text} is not a valid pattern`];
  if (typeof patternOf(text) === 'string') return [];
  const read = readPattern(text);
  return read.ok ? [] : [`the pattern ${text} is refused: ${read.reason}`];
}

function patterns(value: string | string[] | undefined): Pattern[] {
  return [value ?? []].flat().map(pattern);
}

function pattern(text: string): Pattern {
  return patternOf(text)!;
}

function list(value: string | (string | number)[] | undefined): string[] {
  return typeof value === 'string' ? value.split(/[\s,]+/).filter(Boolean) : (value ?? []).map(String);
}
