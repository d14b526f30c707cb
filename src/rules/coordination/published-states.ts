/**
 * Folds the notes of the `state` channel into the last published state of each agent. The id of
 * each note contains the number of the move, so two processes that publish the same move publish
 * one note. If they publish different moves at once, the first counts, and the other process
 * decides again.
 */
import { isMove, movesTo, type AgentState } from '../../domain/agent/agent-state.js';
import type { Note } from '../../domain/coordination/note.js';
import { defined } from '../../domain/defined.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { AgentActivity } from './agent-states.js';

export const STATE_CHANNEL = 'state';

export interface PublishedState {
  state: AgentState;
  moves: number;
  task?: string;
  roots: readonly string[];
  /** The agent has had work before. */
  worked: boolean;
  /** Why its last task failed. */
  failed?: string;
}

export const NOT_PUBLISHED: PublishedState = { state: 'idle', moves: 0, roots: [], worked: false };

/** A note names at most this many roots, the newest ones. */
const MAX_ROOTS = 20;

export function foldStates(notes: Iterable<Note>): Map<string, PublishedState> {
  const published = new Map<string, PublishedState>();
  for (const note of notes) applyStateNote(published, note);
  return published;
}

/** False if the note is not a move, or if a move with its number was applied before. */
export function applyStateNote(published: Map<string, PublishedState>, { id, task, body }: Note): boolean {
  if (body.type !== 'state_change') return false;
  const before = published.get(body.agent) ?? NOT_PUBLISHED;
  const move = Number(/\.(\d+)$/.exec(id)?.[1] ?? before.moves + 1);
  if (move <= before.moves) return false;
  const failed = body.toState === 'error' && body.trigger.startsWith('task.failed') ? body.reason : undefined;
  const subject = task ?? before.task;
  published.set(body.agent, {
    state: body.toState,
    moves: move,
    task: subject,
    roots: body.roots ?? before.roots,
    worked: before.worked || body.toState === 'working' || body.fromState === 'working',
    failed,
  });
  return true;
}

export interface Move {
  note: Note;
  /** Present if the table of moves does not allow it. */
  problem?: Problem;
}

/**
 * The notes that lead from the published state to the current one, through the states in between.
 */
export function stateNotes(
  published: PublishedState,
  current: AgentActivity,
  roots: Iterable<string>,
  at: string,
): Move[] {
  const path = movesTo(published.state, current.state) ?? [current.state];
  const task = current.trigger.slice(current.trigger.indexOf(' ') + 1);
  const newest = [...roots].slice(-MAX_ROOTS);
  let from = published.state;
  return path.map((to, i) => {
    const isLast = i === path.length - 1;
    const move: Move = defined({
      note: defined({
        id: `state.${current.agent}.${published.moves + i + 1}`,
        channel: STATE_CHANNEL,
        from: 'engine',
        at,
        priority: 'normal',
        task: current.trigger.startsWith('task.') ? task : undefined,
        body: {
          type: 'state_change',
          agent: current.agent,
          fromState: from,
          toState: to,
          reason: isLast ? current.why : `on its way to ${current.state}`,
          trigger: current.trigger,
          roots: newest,
        },
      }),
      problem: isMove(from, to) ? undefined : notAMove(current, from, to),
    });
    from = to;
    return move;
  });
}

function notAMove({ agent, trigger }: AgentActivity, from: AgentState, to: AgentState): Problem {
  return problem('not_a_move', `${agent} went from ${from} to ${to} (${trigger || 'no event'})`, {
    hint: 'the new state follows the task tree and was published; guild state --history shows the earlier states',
  });
}
