/** `guild eval`: runs cases against the team and says which pass, how often and at what cost. */
import path from 'node:path';
import { readCases } from '../../../app/eval/read-cases.js';
import { runCases, type CaseResult } from '../../../app/eval/run-cases.js';
import { STAND_IN_NAMES, type StandInName } from '../../../app/serve-script.js';
import { defined } from '../../../domain/defined.js';
import { nearestHint } from '../../../domain/nearest.js';
import { partialMoneyText } from '../../../domain/budget/usage.js';
import { problemError } from '../../../domain/problem.js';
import { counted, EXIT, integerOption, text, type Call, type Command, type Values } from '../../args/command.js';
import { tableRows, wrappedLines } from '../../render/layout.js';
import { progressOn } from '../../render/progress.js';
import type { Terminal } from '../../render/terminal.js';

export const command: Command = {
  usage: 'eval [folder]',
  about: `
Runs the cases in evals/ (or another folder or file) against the agents of this workspace, each in a separate copy, and says
which pass. A case is a task and what must be true afterwards: its result, files, tools that were called or not, requests, cost,
or a statement that a judge model checks. The exit code is 1 if a case failed.

  guild eval --model anthropic/claude-haiku-5-5 --times 3
  guild eval evals/retriever.yaml --json

With --offline no model is called: the scripts of the cases are played by a strict stand-in of a provider. That tests the cases
and this machine, not a model.`,
  options: {
    model: { type: 'string', value: 'MODEL', about: 'the model of every agent; default: as their files say' },
    judge: { type: 'string', value: 'MODEL', about: 'the model that judges; default: the model of the agents' },
    times: { type: 'string', short: 'n', value: 'N', about: 'how often each case runs (default 1)' },
    parallel: { type: 'string', value: 'N', about: 'how many run at once (default 4)' },
    only: { type: 'string', value: 'TEXT', about: 'only cases with this text in their name, agent or file' },
    offline: { type: 'boolean', about: 'play the scripts of the cases, without a model' },
    as: {
      type: 'string',
      value: 'PROVIDER',
      about: `with --offline: ${STAND_IN_NAMES.join(', ')} (default anthropic)`,
    },
    'approve-requests': { type: 'boolean', about: 'let cases with "approve: all" approve what agents ask for' },
    record: { type: 'string', value: 'FOLDER', about: 'keep the replies of models in this folder' },
    replay: { type: 'string', value: 'FOLDER', about: 'take the replies of models from this folder' },
  },
  maxWords: 1,
  async run(call) {
    const { words, root, io, terminal, json, values } = call;
    const from = words[0] ?? path.relative(io.cwd, path.join(root, 'evals'));
    const { cases, problems } = readCases(io.cwd, from);
    for (const each of problems) terminal.problem(each);
    if (problems.length > 0) return EXIT.problem;
    const only = text(values, 'only');
    const chosen = cases.filter(
      ({ id, about, to }) => only === undefined || `${id} ${about} ${to ?? ''}`.includes(only),
    );
    if (chosen.length === 0) throw problemError('not_found', `no case has ${JSON.stringify(only ?? from)}`);
    const offline = values['offline'] === true ? standIn(values) : undefined;
    const folder = (name: string): { [key: string]: string } => {
      const value = text(values, name);
      return value === undefined ? {} : { [name]: path.resolve(io.cwd, value) };
    };
    const model = text(values, 'model');
    const judge = text(values, 'judge');
    const results = await runCases(
      chosen,
      defined({
        root,
        env: io.env,
        times: integerOption(values, 'times', [1, 1000]) ?? 1,
        approves: values['approve-requests'] === true,
        parallel: integerOption(values, 'parallel', [1, 64]) ?? 4,
        modelName: model,
        judge,
        offline,
        ...folder('record'),
        ...folder('replay'),
        onDone: progressOn(terminal, 'running cases'),
      }),
    );
    const isGood = results.every((result) => result.problem === undefined && result.passed === result.runs.length);
    if (json) terminal.json({ model, offline, results, passed: isGood });
    else print(call, results, offline);
    return isGood ? EXIT.done : EXIT.problem;
  },
};

function standIn(values: Values): StandInName {
  const as = text(values, 'as') ?? 'anthropic';
  if ((STAND_IN_NAMES as readonly string[]).includes(as)) return as as StandInName;
  const hint = nearestHint(as, STAND_IN_NAMES, `one of ${STAND_IN_NAMES.join(', ')}`);
  throw problemError('bad_usage', `there is no stand-in ${as}`, hint === undefined ? {} : { hint });
}

function print({ terminal }: Call, results: readonly CaseResult[], offline: StandInName | undefined): void {
  const rows = results.map((result) => rowOf(result, terminal));
  for (const lines of tableRows(rows, terminal.width, [0, 1, 2])) for (const line of lines) terminal.out(line);
  for (const { id, runs, problem: why } of results)
    for (const each of [...(why === undefined ? [] : [why]), ...new Set(runs.flatMap((run) => run.unmet))])
      for (const line of wrappedLines(`${terminal.colour('red', '✗')} ${id}: ${each}`, terminal.width))
        terminal.out(line);
  const runs = results.flatMap((result) => result.runs);
  const passed = results.filter(
    (result) => result.problem === undefined && result.passed === result.runs.length,
  ).length;
  const cost = partialMoneyText(
    runs.reduce((sum, run) => sum + run.microUsd, 0),
    runs.reduce((sum, run) => sum + run.unpriced, 0),
  );
  terminal.out('');
  terminal.out(terminal.bold(`${passed} of ${results.length} cases passed${offline === undefined ? `, ${cost}` : ''}`));
  if (offline !== undefined)
    terminal.say(`Played by scripts on a stand-in of ${offline}: this checks the cases themselves, not a model.`);
}

function rowOf({ about, agent, passed, runs, problem: why }: CaseResult, terminal: Terminal): string[] {
  const isGood = why === undefined && passed === runs.length;
  const mark = isGood ? terminal.colour('green', '✓') : terminal.colour('red', '✗');
  const times = runs.length > 1 ? ` ${passed}/${runs.length}` : '';
  const seconds = runs.reduce((sum, run) => sum + run.ms, 0) / Math.max(1, runs.length) / 1000;
  const turns = runs.reduce((sum, run) => sum + run.turns, 0) / Math.max(1, runs.length);
  return [`${mark}${times}`, agent ?? 'team', `${counted(Math.round(turns), 'turn')}, ${seconds.toFixed(1)} s`, about];
}
