/** What was told of states, folded; and what is still to be told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentState } from '../../../src/domain/agent/agent-state.js';
import type { Note } from '../../../src/domain/coordination/note.js';
import type { AgentDoing } from '../../../src/rules/coordination/agent-states.js';
import { foldStates, stateNotes, UNTOLD, type Told } from '../../../src/rules/coordination/published-states.js';

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

function doing(state: AgentState, trigger = 'task.ended t'): AgentDoing {
  return { agent: 'ana', state, tasks: [], waitsFor: [], why: 'because', trigger };
}

test('the last move counts, and of the same move told twice the first', () => {
  const told = foldStates([
    note(1, 'idle', 'working', { task: 't' }),
    note(2, 'working', 'blocked'),
    note(2, 'working', 'waiting'),
    note(1, 'idle', 'working'),
  ]).get('ana')!;
  assert.equal(told.state, 'blocked');
  assert.equal(told.moves, 2);
  assert.deepEqual([told.task, told.roots, told.worked], ['t', ['r'], true]);
});

test('why a task failed is kept until there is work again', () => {
  const failed = [note(1, 'idle', 'working'), note(2, 'working', 'error', { trigger: 'task.failed t' })];
  assert.equal(foldStates(failed).get('ana')!.failed, 'why not');
  assert.equal(foldStates([...failed, note(3, 'error', 'working')]).get('ana')!.failed, undefined);
  const unreadable = foldStates([note(1, 'idle', 'error', { trigger: 'file.held agents/ana.md' })]).get('ana')!;
  assert.deepEqual([unreadable.failed, unreadable.worked], [undefined, false]);
});

test('states that were jumped over are told, each with its own number', () => {
  const told: Told = { ...UNTOLD, state: 'working', moves: 4, worked: true };
  const moves = stateNotes(told, doing('complete'), ['r'], AT);
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
  assert.equal(foldStates(moves.map((one) => one.note)).get('ana')!.state, 'complete');
});

test('two that see the same move tell the same note', () => {
  const one = stateNotes(UNTOLD, doing('working', 'task.claimed t'), [], AT);
  const other = stateNotes(UNTOLD, doing('working', 'task.claimed t'), [], AT);
  assert.deepEqual(one, other);
});

test('a move that is not in the table is told as it is, with what is wrong', () => {
  const told: Told = { ...UNTOLD, state: 'waiting', moves: 1 };
  const moves = stateNotes(told, doing('idle', ''), [], AT);
  assert.equal(moves.length, 1);
  assert.equal(moves[0]!.problem?.code, 'not_a_move');
  assert.match(moves[0]!.problem.message, /from waiting to idle/);
  assert.equal(foldStates([note(1, 'idle', 'waiting'), moves[0]!.note]).get('ana')!.state, 'idle');
});

test('only the newest of many roots are named', () => {
  const roots = Array.from({ length: 100 }, (_, n) => `r${n}`);
  const [move] = stateNotes(UNTOLD, doing('working'), roots, AT);
  const { roots: named } = move!.note.body as Note['body'] & { type: 'state_change' };
  assert.deepEqual([named!.length, named!.at(-1)], [20, 'r99']);
});
