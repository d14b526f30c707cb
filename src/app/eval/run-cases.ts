/** Runs cases several times, some at once, and sums up. */
import path from 'node:path';
import { defined } from '../../domain/defined.js';
import type { EvalCase } from '../../domain/eval/eval-case.js';
import type { StandInName } from '../../adapters/models/stand-ins/index.js';
import { offlineModel } from './offline-model.js';
import { runCase, type CaseRun, type RunOptions } from './run-case.js';
import { recording, replaying } from '../../adapters/models/kept-replies.js';
import { models } from '../../adapters/models/index.js';
import { clock } from '../../adapters/clock/index.js';
import { disk } from '../../adapters/disk/index.js';
import { readConfig } from '../readers/read-config.js';
import { withTrustedProviders } from '../trust/acting.js';
import { scriptReader } from '../trust/read-script.js';
import { openTrust } from '../trust/trust.js';

interface EvalOptions extends Omit<RunOptions, 'model'> {
  times: number;
  parallel: number;
  /** Whether cases may answer requests with yes: a person has agreed to that. */
  approves: boolean;
  /** Plays the scripts of the cases over this stand-in, without any model. */
  offline?: StandInName;
  /** A folder in which replies are kept, or from which they come. */
  record?: string;
  replay?: string;
  onDone?: (done: number, total: number) => void;
}

export interface CaseResult {
  id: string;
  about: string;
  agent?: string;
  passed: number;
  runs: CaseRun[];
  /** Why it could not run at all. */
  problem?: string;
}

export async function runCases(cases: readonly EvalCase[], options: EvalOptions): Promise<CaseResult[]> {
  const results = cases.map((each): CaseResult =>
    defined({
      id: each.id,
      about: each.about,
      agent: each.to,
      passed: 0,
      runs: [],
    }),
  );
  const jobs = cases.flatMap((each, at) => Array.from({ length: options.times }, (_, n) => ({ each, at, n })));
  let done = 0;
  const work = async (): Promise<void> => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const result = results[job.at]!;
      try {
        const run = await once(job.each, job.n, options);
        result.runs.push(run);
        if (run.unmet.length === 0) result.passed++;
      } catch (thrown) {
        result.problem = (thrown as Error).message;
      }
      options.onDone?.(++done, cases.length * options.times);
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.parallel, jobs.length) }, work));
  return results;
}

async function once(evalCase: EvalCase, n: number, options: EvalOptions): Promise<CaseRun> {
  const { root, env, modelName, judge, offline, record, replay, approves } = options;
  if (evalCase.approve === 'all' && !approves)
    throw new Error('it approves requests of agents: read it, then add --approve-requests');
  const run = defined({ root, env, modelName, judge });
  const file = (folder: string): string => path.join(folder, `${evalCase.id.replace(/[^\w-]+/g, '-')}-${n + 1}.jsonl`);
  if (replay !== undefined) return runCase(evalCase, { ...run, model: replaying(file(replay)) });
  if (offline !== undefined) {
    if (evalCase.script === undefined) throw new Error('it has no script for --offline');
    const { model, close } = await offlineModel(offline, evalCase.script);
    try {
      return await runCase(evalCase, { ...run, model });
    } finally {
      await close();
    }
  }
  if (record === undefined) return runCase(evalCase, run);
  return runCase(evalCase, { ...run, model: recording(realModels(options), file(record)) });
}

function realModels({ root, env }: EvalOptions): ReturnType<typeof models> {
  const files = disk();
  const { config } = readConfig(files, root, env);
  const trusted = withTrustedProviders(config, openTrust(root, env, config));
  return models({ config: trusted, env, clock: clock(), readFile: scriptReader(files, root) });
}
