/**
 * The running turns of all processes, gathered for the pages. Words are only for display: a page
 * that missed some reads all of them again.
 */
import { followTurns } from '../../app/live/follow-turns.js';
import { defined } from '../../domain/defined.js';
import { INTERVALS } from '../../domain/intervals.js';
import type { LiveTurn } from '../../domain/live-turn.js';
import type { TurnNow, TurnsChanged } from './contract.js';

export interface Live {
  turns(): TurnNow[];
  /** Calls back with the changes, at most once per interval. */
  onChange(hear: (changed: TurnsChanged) => void): () => void;
  close(): void;
}

/** Of long answers only the end is shown while they are written. */
const WORDS_MAX = 8000;

export function openLive(root: string, env: Record<string, string | undefined>): Live {
  const hearers = new Set<(changed: TurnsChanged) => void>();
  const changed = new Map<string, LiveTurn>();
  const ended = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    const news: TurnsChanged = { turns: [...changed.values()].map(turnNow), ended: [...ended] };
    changed.clear();
    ended.clear();
    for (const hear of hearers) hear(news);
  };
  const note = (turn: LiveTurn, isEnd: boolean): void => {
    if (hearers.size === 0) return;
    if (isEnd) {
      changed.delete(turn.task);
      ended.add(turn.task);
    } else {
      ended.delete(turn.task);
      changed.set(turn.task, turn);
    }
    timer ??= setTimeout(send, INTERVALS.windowGatherMs);
  };
  const following = followTurns(root, env, {
    progress: (_, turn) => note(turn, false),
    turn: (turn) => note(turn, false),
    end: (turn) => note(turn, true),
  });
  return {
    turns: () => [...following.turns()].map(turnNow),
    onChange(hear) {
      hearers.add(hear);
      return () => hearers.delete(hear);
    },
    close() {
      clearTimeout(timer);
      following.close();
    },
  };
}

function turnNow({ task, agent, since, words, isCut, tool, tokens, microUsd }: LiveTurn): TurnNow {
  const isLong = words.length > WORDS_MAX;
  return defined({
    task,
    agent,
    since,
    words: isLong ? words.slice(-WORDS_MAX) : words,
    isCut: isCut || isLong,
    tool,
    tokens,
    microUsd,
  });
}
