/**
 * Which bid gets the task. The score is what the agent says of itself, held against what became of its work; it counts from the agent's own
 * threshold on. Of equal scores a hash of task and agent decides: fair over many tasks, and the same whoever weighs them and in which order.
 */
import { DEFAULT_THRESHOLD, type Agent } from '../../domain/agent/agent.js';
import type { Bid } from '../../domain/task/bid.js';
import { hash53 } from '../../domain/task/id.js';
import { compareText } from '../../domain/order.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { Task } from '../../domain/task/task.js';
import { recordText, reliability, type TrackRecord } from './track-record.js';

export interface Offered {
  agent: Pick<Agent, 'name' | 'threshold'>;
  /** Undefined: there was none in time, or none that could be read. */
  bid: Bid | undefined;
  record: TrackRecord;
  /** Why there is no bid. */
  why?: string;
}

export interface Score {
  agent: string;
  fitness?: number;
  /** Fitness, less what its record takes from it; absent if it does not want the task or cannot do it. */
  score?: number;
  threshold: number;
  record: string;
  /** Its own reason, or why there is no bid. */
  said: string;
  verdict: 'awarded' | 'second' | 'below' | 'stepped back' | 'unable' | 'no bid';
}

export interface Award {
  /** Undefined: nobody is at or above its threshold. */
  agent: string | undefined;
  /** Best first. */
  scores: Score[];
}

export function award(task: Pick<Task, 'id'>, offered: readonly Offered[]): Award {
  const lot = (agent: string): string => hash53(`${task.id}\n${agent}`);
  const scores = offered
    .map(scoreOf)
    .sort(
      (a, b) =>
        RANK.indexOf(a.verdict) - RANK.indexOf(b.verdict) ||
        (b.score ?? 0) - (a.score ?? 0) ||
        compareText(lot(a.agent), lot(b.agent)) ||
        compareText(a.agent, b.agent),
    );
  const best = scores[0];
  if (best?.verdict !== 'second') return { agent: undefined, scores };
  return { agent: best.agent, scores: [{ ...best, verdict: 'awarded' }, ...scores.slice(1)] };
}

const RANK: Score['verdict'][] = ['awarded', 'second', 'below', 'unable', 'stepped back', 'no bid'];

function scoreOf({ agent, bid, record, why }: Offered): Score {
  const threshold = typeof agent.threshold === 'number' ? agent.threshold : DEFAULT_THRESHOLD;
  const known = { agent: agent.name, threshold, record: recordText(record) };
  if (bid === undefined) return { ...known, said: why ?? 'no answer in time', verdict: 'no bid' };
  const said = { ...known, fitness: bid.fitness, said: bid.reason };
  if (!bid.proceed) return { ...said, verdict: 'stepped back' };
  if (!bid.able) return { ...said, verdict: 'unable' };
  const score = Math.round(100 * bid.fitness * reliability(record)) / 100;
  return { ...said, score, verdict: score >= threshold ? 'second' : 'below' };
}

/** One line for people. */
export function scoreText({ agent, score, fitness, threshold, record, said, verdict }: Score): string {
  const points = score === undefined ? '' : ` ${score} (fitness ${fitness}, ${record}; needs ${threshold})`;
  return `${agent}: ${verdict}${points}${said === '' ? '' : `: ${said}`}`;
}

export function noneFit(scores: readonly Score[]): Problem {
  const lines = scores.map((one) => scoreText({ ...one, said: one.said.split('\n')[0]!.slice(0, 200) }));
  return problem('nobody_fit', `no bid reached its threshold: ${lines.join('; ')}`, {
    hint: 'say `to` in the task, lower a threshold, or change the task or an agent, then retry it: who changed is asked again',
  });
}

/** The page that people read: `tasks/bids/<task>.md`. */
export function bidsPage(task: Pick<Task, 'id' | 'description'>, { agent, scores }: Award): string {
  const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
  const rows = scores.map((one) =>
    [one.agent, one.verdict, one.fitness ?? '', one.record, one.score ?? '', one.threshold, one.said]
      .map((value) => cell(String(value)))
      .join(' | '),
  );
  const title = cell(task.description.split('\n')[0]!.slice(0, 120));
  const outcome = agent === undefined ? 'Nobody got it: no bid reached its threshold.' : `It went to **${agent}**.`;
  return `# Bids for ${task.id}: ${title}\n\n${outcome}\n\n| agent | outcome | fitness | record | score | needs | reason |\n|---|---|---|---|---|---|---|\n${rows.map((row) => `| ${row} |\n`).join('')}`;
}
