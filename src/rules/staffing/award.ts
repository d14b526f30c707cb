/**
 * Chooses the bid that gets a task. A score is the agent's own fitness times its reliability, and
 * must reach the agent's own threshold. A hash of task and agent breaks ties: fair over many tasks,
 * and the same in every process and for every order of the bids.
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
  /** Undefined if none arrived in time, or if it could not be read. */
  bid: Bid | undefined;
  record: TrackRecord;
  why?: string;
}

export interface Score {
  agent: string;
  fitness?: number;
  /** Fitness times reliability; absent if the agent stepped back or is unable. */
  score?: number;
  threshold: number;
  record: string;
  /** The agent's own reason, or why there is no bid. */
  said: string;
  verdict: 'awarded' | 'second' | 'below' | 'stepped back' | 'unable' | 'no bid';
}

export interface Award {
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
  const bidder = { agent: agent.name, threshold, record: recordText(record) };
  if (bid === undefined) return { ...bidder, said: why ?? 'no answer in time', verdict: 'no bid' };
  const answer = { ...bidder, fitness: bid.fitness, said: bid.reason };
  if (!bid.proceed) return { ...answer, verdict: 'stepped back' };
  if (!bid.able) return { ...answer, verdict: 'unable' };
  const score = Math.round(100 * bid.fitness * reliability(record)) / 100;
  return { ...answer, score, verdict: score >= threshold ? 'second' : 'below' };
}

/** One line for people. */
export function scoreText({ agent, score, fitness, threshold, record, said, verdict }: Score): string {
  const points = score === undefined ? '' : ` ${score} (fitness ${fitness}, ${record}; needs ${threshold})`;
  return `${agent}: ${verdict}${points}${said === '' ? '' : `: ${said}`}`;
}

export function noneFit(scores: readonly Score[]): Problem {
  const lines = scores.map((score) => scoreText({ ...score, said: score.said.split('\n')[0]!.slice(0, 200) }));
  return problem('nobody_fit', `no bid reached its threshold: ${lines.join('; ')}`, {
    hint: 'set `to` in the task, lower a threshold, or change an agent; or name the missing capability under `requirements`, so that a new agent can be drafted; then retry the task',
  });
}

/** The page that people read: `tasks/bids/<task>.md`. */
export function bidsPage(task: Pick<Task, 'id' | 'description'>, { agent, scores }: Award): string {
  const cell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
  const rows = scores.map((score) =>
    [score.agent, score.verdict, score.fitness ?? '', score.record, score.score ?? '', score.threshold, score.said]
      .map((value) => cell(String(value)))
      .join(' | '),
  );
  const title = cell(task.description.split('\n')[0]!.slice(0, 120));
  const outcome = agent === undefined ? 'Not awarded: no bid reached its threshold.' : `Awarded to **${agent}**.`;
  return `# Bids for ${task.id}: ${title}\n\n${outcome}\n\n| agent | outcome | fitness | record | score | needs | reason |\n|---|---|---|---|---|---|---|\n${rows.map((row) => `| ${row} |\n`).join('')}`;
}
