/**
 * What was told on the `state` channel, folded: the last state of each agent, and what of its past is needed to go on from there. Each note
 * carries the number of the move in its id, so that two processes that tell the same move tell one note, and of two that tell different
 * moves at once the first counts: the other sees it and thinks again.
 */
import { isMove, movesTo, type AgentState } from '../../domain/agent/agent-state.js';
import type { Note } from '../../domain/coordination/note.js';
import { problem, type Problem } from '../../domain/problem.js';
import type { AgentDoing } from './agent-states.js';

export const STATE_CHANNEL = 'state';

export interface Told {
  state: AgentState;
  /** How many moves were told of it. */
  moves: number;
  /** The task the last move was about. */
  task?: string;
  roots: readonly string[];
  /** It had work at some time. */
  worked: boolean;
  /** Why its last task failed. */
  failed?: string;
}

export const UNTOLD: Told = { state: 'idle', moves: 0, roots: [], worked: false };

/** Roots that a note names at most; whoever takes part in more is known by the newest. */
const MOST_ROOTS = 20;

export function foldStates(notes: Iterable<Note>): Map<string, Told> {
  const told = new Map<string, Told>();
  for (const note of notes) hearState(told, note);
  return told;
}

/** False if it tells no move, or one that is known: of the same move told twice the first counts. */
export function hearState(told: Map<string, Told>, { id, task, body }: Note): boolean {
  if (body.type !== 'state_change') return false;
  const before = told.get(body.agent) ?? UNTOLD;
  const move = Number(/\.(\d+)$/.exec(id)?.[1] ?? before.moves + 1);
  if (move <= before.moves) return false;
  const failed = body.toState === 'error' && body.trigger.startsWith('task.failed') ? body.reason : undefined;
  const about = task ?? before.task;
  told.set(body.agent, {
    state: body.toState,
    moves: move,
    task: about,
    roots: body.roots ?? before.roots,
    worked: before.worked || body.toState === 'working' || body.fromState === 'working',
    failed,
  });
  return true;
}

export interface Move {
  note: Note;
  /** It is not in the table. */
  problem?: Problem;
}

/** The notes that bring what was told to what is: the states between first. */
export function stateNotes(told: Told, doing: AgentDoing, roots: Iterable<string>, at: string): Move[] {
  const way = movesTo(told.state, doing.state) ?? [doing.state];
  const task = doing.trigger.slice(doing.trigger.indexOf(' ') + 1);
  const newest = [...roots].slice(-MOST_ROOTS);
  let from = told.state;
  return way.map((to, i) => {
    const last = i === way.length - 1;
    const move: Move = {
      note: {
        id: `state.${doing.agent}.${told.moves + i + 1}`,
        channel: STATE_CHANNEL,
        from: 'engine',
        at,
        priority: 'normal',
        ...(doing.trigger.startsWith('task.') ? { task } : {}),
        body: {
          type: 'state_change',
          agent: doing.agent,
          fromState: from,
          toState: to,
          reason: last ? doing.why : `on its way to ${doing.state}`,
          trigger: doing.trigger,
          roots: newest,
        },
      },
      ...(isMove(from, to) ? {} : { problem: notAMove(doing, from, to) }),
    };
    from = to;
    return move;
  });
}

function notAMove({ agent, trigger }: AgentDoing, from: AgentState, to: AgentState): Problem {
  return problem('not_a_move', `${agent} went from ${from} to ${to} (${trigger || 'nothing happened'})`, {
    hint: 'the task tree is right and the state is told as it is; guild state --history shows what was told before',
  });
}
