/**
 * The turn that a process works on right now, folded from its progress and events, for people who
 * look later or from elsewhere. It is stored in no file.
 */
import { callCost, type Event } from './event.js';
import type { Progress } from './progress.js';

export interface LiveTurn {
  task: string;
  root: string;
  agent: string;
  /** When the process took the task, as an ISO time. */
  since: string;
  /** The model's words in this turn; only the end of them if `isCut`. */
  words: string;
  isCut: boolean;
  /** The tool that runs. `line`: how far it is. */
  tool?: { name: string; argument: string; line?: string };
  /** The last tool that ended. */
  result?: { name: string; argument: string; ok: boolean; line: string };
  /** Usage of this task since the process took it. */
  tokens: number;
  microUsd: number;
  /** Calls whose price is not known. */
  unpriced: number;
}

export const MAX_LIVE_WORDS = 32_000;

export function freshTurn({ task, root, agent }: Pick<Progress, 'task' | 'root' | 'agent'>, since: string): LiveTurn {
  return { task, root, agent, since, words: '', isCut: false, tokens: 0, microUsd: 0, unpriced: 0 };
}

export function applyProgress(turn: LiveTurn, now: Progress): void {
  turn.agent = now.agent;
  switch (now.kind) {
    case 'thinking':
      turn.words = '';
      turn.isCut = false;
      delete turn.tool;
      return;
    case 'words':
      turn.words += now.text;
      if (turn.words.length <= MAX_LIVE_WORDS) return;
      turn.words = turn.words.slice(-MAX_LIVE_WORDS);
      turn.isCut = true;
      return;
    case 'tool':
      turn.tool = { name: now.tool, argument: now.argument };
      return;
    case 'report':
      turn.tool = { name: now.tool, argument: turn.tool?.argument ?? '', line: now.line };
      return;
    case 'result':
      turn.result = { name: now.tool, argument: turn.tool?.argument ?? '', ok: now.ok, line: now.line };
      delete turn.tool;
  }
}

/** Changes the turn; true if it did. */
export function addCost(turn: LiveTurn, event: Event): boolean {
  if (event.name !== 'model.answered') return false;
  const { inputTokens, outputTokens, microUsd, isUnpriced } = callCost(event);
  turn.tokens += inputTokens + outputTokens;
  turn.microUsd += microUsd;
  if (isUnpriced) turn.unpriced++;
  return true;
}

/** Events after which the process no longer works on the task. */
export const ENDS_TURN: ReadonlySet<Event['name']> = new Set([
  'task.completed',
  'task.failed',
  'task.parked',
  'task.released',
]);
