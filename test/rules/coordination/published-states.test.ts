/**
 * Notes fold into the last published state, and the difference to the current state becomes new
 * notes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentState } from '../../../src/domain/agent/agent-state.js';
import type { Note } from '../../../src/domain/coordination/note.js';
import type { AgentActivity } from '../../../src/rules/coordination/agent-states.js';
import {
  foldStates,
  stateNotes,
  NOT_PUBLISHED,
  type PublishedState,
} from '../../../src/rules/coordination/published-states.js';

const AT = '2026-01-01T00:00:00.000Z';

function note(
  move: number,
  fromState: AgentState,
  toState: AgentState,
  more: { task?: string; trigger?: string } = {},
): Note {
  const { task, trigger = 'task.claimed t' } = more;
  return {
    id: `state.ana.${move}`,
    channel: 'state',
    from: 'engine',
    at: AT,
    priority: 'normal',
    ...(task ? { task } : {}),
    body: { type: 'state_change', agent: 'ana', fromState, toState, reason: 'why not', trigger, roots: ['r'] },
  };
}

function activity(state: AgentState, trigger = 'task.ended t'): AgentActivity {
  return { agent: 'ana', state, tasks: [], waitsFor: [], why: 'because', trigger };
}

test('the last move counts; of two notes with the same number, the first counts', () => {
  const published = foldStates([
    note(1, 'idle', 'working', { task: 't' }),
    note(2, 'working', 'blocked'),
    note(2, 'working', 'waiting'),
    note(1, 'idle', 'working'),
  ]).get('ana')!;
  assert.equal(published.state, 'blocked');
  assert.equal(published.moves, 2);
  assert.deepEqual([published.task, published.roots, published.worked], ['t', ['r'], true]);
});

test('the reason of a failure is kept until the agent has work again', () => {
  const failed = [note(1, 'idle', 'working'), note(2, 'working', 'error', { trigger: 'task.failed t' })];
  assert.equal(foldStates(failed).get('ana')!.failed, 'why not');
  assert.equal(foldStates([...failed, note(3, 'error', 'working')]).get('ana')!.failed, undefined);
  const unreadable = foldStates([note(1, 'idle', 'error', { trigger: 'file.held agents/ana.md' })]).get('ana')!;
  assert.deepEqual([unreadable.failed, unreadable.worked], [undefined, false]);
});

test('states in between are published too, each with its own number', () => {
  const published: PublishedState = { ...NOT_PUBLISHED, state: 'working', moves: 4, worked: true };
  const moves = stateNotes(published, activity('complete'), ['r'], AT);
  assert.deepEqual(
    moves.map(({ note: { id, body }, problem }) => {
      const { fromState, toState, reason } = body as Note['body'] & { type: 'state_change' };
      return [id, fromState, toState, reason, problem];
    }),
    [
      ['state.ana.5', 'working', 'waiting', 'on its way to complete', undefined],
      ['state.ana.6', 'waiting', 'complete', 'because', undefined],
    ],
  );
  assert.equal(foldStates(moves.map((move) => move.note)).get('ana')!.state, 'complete');
});

test('two processes that see the same move publish the same note', () => {
  const first = stateNotes(NOT_PUBLISHED, activity('working', 'task.claimed t'), [], AT);
  const second = stateNotes(NOT_PUBLISHED, activity('working', 'task.claimed t'), [], AT);
  assert.deepEqual(first, second);
});

test('a move that the table does not allow is published with a problem', () => {
  const published: PublishedState = { ...NOT_PUBLISHED, state: 'waiting', moves: 1 };
  const moves = stateNotes(published, activity('idle', ''), [], AT);
  assert.equal(moves.length, 1);
  assert.equal(moves[0]!.problem?.code, 'not_a_move');
  assert.match(moves[0]!.problem.message, /from waiting to idle/);
  assert.equal(foldStates([note(1, 'idle', 'waiting'), moves[0]!.note]).get('ana')!.state, 'idle');
});

test('only the newest of many roots are named', () => {
  const roots = Array.from({ length: 100 }, (_, n) => `r${n}`);
  const [move] = stateNotes(NOT_PUBLISHED, activity('working'), roots, AT);
  const { roots: named } = move!.note.body as Note['body'] & { type: 'state_change' };
  assert.deepEqual([named!.length, named!.at(-1)], [20, 'r99']);
});
