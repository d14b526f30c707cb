/** Who gives way in a circle: the same for everybody, and what serves another counts as much as that one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Coordination } from '../../../src/domain/config/config.js';
import { makeTask, type OpenState, type Task } from '../../../src/domain/task/task.js';
import { breakCircle, circleText, type Link } from '../../../src/rules/coordination/deadlock.js';
import {
  agentNode,
  budgetNode,
  HUMAN_NODE,
  nodeKind,
  resourceKey,
  turnNode,
} from '../../../src/rules/coordination/wait-node.js';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

function circleOf(...tasks: (Partial<Task> & { id: string; state?: OpenState })[]): (id: string) => Link | undefined {
  const links = tasks.map(({ state = 'waiting', ...task }, n) => ({
    task: makeTask({ description: task.id, created_at: at(n), ...task }),
    state,
  }));
  return (id) => links.find(({ task }) => task.id === id);
}

function victim(circle: string[], find: (id: string) => Link | undefined, mode: Coordination['mode']): string[] {
  const broken = breakCircle(circle, find, mode);
  assert.ok(broken?.kind === 'victim');
  return [broken.victim, broken.cancelled];
}

/** Two tasks, each holding what the other asked for by a dependency of low urgency. */
const PRINTER = turnNode(resourceKey('printer'));
const SCANNER = turnNode(resourceKey('scanner'));
const CIRCLE = ['a', 'a.d', SCANNER, 'b', 'b.d', PRINTER];

test('whoever is of the lowest priority gives way; how long it lasted counts too', () => {
  const find = circleOf(
    { id: 'a', priority: 'A', waits: { tasks: ['a.d'] } },
    { id: 'a.d', parent: 'a', role: 'dependency', priority: 'A' },
    { id: 'b', priority: 'B', waits: { tasks: ['b.d'] } },
    { id: 'b.d', parent: 'b', role: 'dependency', priority: 'B' },
  );
  assert.deepEqual(victim(CIRCLE, find, 'hierarchical'), ['b', 'b.d']);
  assert.deepEqual(victim(CIRCLE, find, 'mesh'), ['a', 'a.d']);
});

test('what an urgent task asked for without urgency is worth as much as that task, whoever serves it', () => {
  const find = circleOf(
    { id: 'top', priority: 'A', waits: { tasks: ['top.d'] } },
    { id: 'top.d', parent: 'top', role: 'dependency', priority: 'D', waits: { tasks: ['top.d.p'] } },
    { id: 'top.d.p', parent: 'top.d', role: 'provide', priority: 'D', waits: { tasks: ['top.d.p.d'] } },
    { id: 'top.d.p.d', parent: 'top.d.p', role: 'dependency', priority: 'D' },
    { id: 'b', priority: 'C', waits: { tasks: ['b.d'] } },
    { id: 'b.d', parent: 'b', role: 'dependency', priority: 'C' },
  );
  const circle = ['top.d.p', 'top.d.p.d', SCANNER, 'b', 'b.d', PRINTER];
  const known = (id: string): Link | undefined => (circle.includes(id) ? find(id) : undefined);
  assert.deepEqual(
    victim(circle, known, 'hierarchical'),
    ['top.d.p', 'top.d.p.d'],
    'whom it serves is not in this circle',
  );
  assert.deepEqual(victim(['top', 'top.d', ...circle], find, 'hierarchical'), ['b', 'b.d']);
});

test('whoever waits for its own budget gives up the child that holds it', () => {
  const find = circleOf(
    { id: 'a', priority: 'D', waits: { tasks: ['a.c'], budget: 'tokens' } },
    { id: 'a.c', parent: 'a', priority: 'A', role: 'task', waits: { tasks: ['a.c.d'] } },
    { id: 'a.c.d', parent: 'a.c', role: 'dependency', priority: 'A' },
  );
  assert.deepEqual(victim(['a', budgetNode('a'), 'a.c', 'a.c.d', PRINTER], find, 'hierarchical'), ['a', 'a.c']);
});

test('every kind of node has a name that no task has, and is told in words', () => {
  const nodes = ['t', turnNode('ann'), PRINTER, agentNode('ann'), HUMAN_NODE, budgetNode('t')];
  assert.deepEqual(nodes.map(nodeKind), ['task', 'conversation', 'resource', 'agent', 'human', 'budget']);
  assert.equal(
    circleText(nodes),
    't → the conversation ann → the resource printer → room at ann → you → the budget of t → t',
  );
});
