/** A case of `guild eval`: a task for a team, and what must be true afterwards. */

export interface EvalCase {
  /** The file and the place in it: `evals/retriever.yaml:2`. */
  id: string;
  about: string;
  task: string;
  /** Absent: the team decides. */
  to?: string;
  /** Files that the workspace has besides the team's files. */
  files: Record<string, string>;
  /** How requests of agents are answered. */
  approve: 'none' | 'all';
  expect: Expectations;
  /** The answers of the scripted model when the case runs offline. */
  script?: string;
}

/** A task that waits for a person when nothing more can be done counts as `waiting`. */
type EndState = 'completed' | 'failed' | 'waiting';

interface Expectations {
  /** `ended`: completed or failed. */
  state: EndState | 'ended';
  result: Pattern[];
  notResult: Pattern[];
  /** Files that exist afterwards and contain the text; `false`: the file does not exist. */
  files: { path: string; has: Pattern | false }[];
  /** Tools that some agent called, and tools that no agent called. */
  calls: string[];
  noCalls: string[];
  /** Tools for which a person was asked. */
  asks: string[];
  /** A sentence about the result that a judge model must find true. */
  judge?: string;
  microUsd?: number;
  turns?: number;
}

export type Pattern = string | RegExp;

/** The results of a run of a case, as far as expectations look at them. */
export interface EvalRun {
  state: EndState;
  result: string;
  calls: string[];
  asks: string[];
  microUsd: number;
  /** Calls whose price is not known. */
  unpriced: number;
  turns: number;
  tokens: number;
  ms: number;
  /** The text of a file afterwards; undefined if it does not exist. */
  file(path: string): string | undefined;
  /** The judge's verdict, if the case asks for one. */
  verdict?: { holds: boolean; reason: string };
}

/** Every expectation that does not hold, in words. Empty: the case passed. */
export function unmet({ expect }: EvalCase, run: EvalRun): string[] {
  const failures: string[] = [];
  const need = (holds: boolean, why: string): void => void (holds || failures.push(why));
  const isWanted = expect.state === 'ended' ? run.state !== 'waiting' : run.state === expect.state;
  const why = run.state === 'failed' ? `: ${run.result}` : '';
  need(isWanted, `it is ${run.state}, not ${expect.state}${why}`);
  for (const each of expect.result) need(has(run.result, each), `the result lacks ${patternText(each)}`);
  for (const each of expect.notResult) need(!has(run.result, each), `the result contains ${patternText(each)}`);
  for (const { path, has: wanted } of expect.files) {
    const text = run.file(path);
    if (wanted === false) need(text === undefined, `${path} exists`);
    else if (text === undefined) failures.push(`${path} is missing`);
    else need(has(text, wanted), `${path} lacks ${patternText(wanted)}`);
  }
  for (const tool of expect.calls) need(run.calls.includes(tool), `${tool} was not called`);
  for (const tool of expect.noCalls) need(!run.calls.includes(tool), `${tool} was called`);
  for (const tool of expect.asks) need(run.asks.includes(tool), `nobody was asked about ${tool}`);
  if (expect.turns !== undefined)
    need(run.turns <= expect.turns, `took ${run.turns} turns; the limit is ${expect.turns}`);
  if (expect.microUsd !== undefined) {
    const isKnown = run.unpriced === 0;
    need(isKnown && run.microUsd <= expect.microUsd, isKnown ? 'cost too much' : 'its price is not known');
  }
  if (run.verdict !== undefined) need(run.verdict.holds, `the judge says no: ${run.verdict.reason}`);
  return failures;
}

function has(text: string, pattern: Pattern): boolean {
  return typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text);
}

function patternText(pattern: Pattern): string {
  return typeof pattern === 'string' ? JSON.stringify(pattern) : String(pattern);
}
