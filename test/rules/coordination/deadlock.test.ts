/**
 * Every process chooses the same victim of a cycle, and a task that serves another inherits its
 * priority.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Coordination } from '../../../src/domain/config/config.js';
import { makeTask, type OpenState, type Task } from '../../../src/domain/task/task.js';
import { breakCycle, cycleText, type Link } from '../../../src/rules/coordination/deadlock.js';
import {
  agentNode,
  budgetNode,
  HUMAN_NODE,
  nodeKind,
  resourceKey,
  turnNode,
} from '../../../src/rules/coordination/wait-node.js';

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

function linksOf(...tasks: (Partial<Task> & { id: string; state?: OpenState })[]): (id: string) => Link | undefined {
  const links = tasks.map(({ state = 'waiting', ...task }, n) => ({
    task: makeTask({ description: task.id, created_at: at(n), ...task }),
    state,
  }));
  return (id) => links.find(({ task }) => task.id === id);
}

function victim(cycle: string[], find: (id: string) => Link | undefined, mode: Coordination['mode']): string[] {
  const broken = breakCycle(cycle, find, mode);
  assert.ok(broken?.kind === 'victim');
  return [broken.victim, broken.cancelled];
}

/** Two tasks that each hold the resource the other has asked for. */
const PRINTER = turnNode(resourceKey('printer'));
const SCANNER = turnNode(resourceKey('scanner'));
const CYCLE = ['a', 'a.d', SCANNER, 'b', 'b.d', PRINTER];

test('hierarchical: the lowest priority gives way; mesh: the oldest wait gives way', () => {
  const find = linksOf(
    { id: 'a', priority: 'A', waits: { tasks: ['a.d'] } },
    { id: 'a.d', parent: 'a', role: 'dependency', priority: 'A' },
    { id: 'b', priority: 'B', waits: { tasks: ['b.d'] } },
    { id: 'b.d', parent: 'b', role: 'dependency', priority: 'B' },
  );
  assert.deepEqual(victim(CYCLE, find, 'hierarchical'), ['b', 'b.d']);
  assert.deepEqual(victim(CYCLE, find, 'mesh'), ['a', 'a.d']);
});

test('a task that serves an urgent one inherits its priority if both are in the cycle', () => {
  const find = linksOf(
    { id: 'top', priority: 'A', waits: { tasks: ['top.d'] } },
    { id: 'top.d', parent: 'top', role: 'dependency', priority: 'D', waits: { tasks: ['top.d.p'] } },
    { id: 'top.d.p', parent: 'top.d', role: 'provide', priority: 'D', waits: { tasks: ['top.d.p.d'] } },
    { id: 'top.d.p.d', parent: 'top.d.p', role: 'dependency', priority: 'D' },
    { id: 'b', priority: 'C', waits: { tasks: ['b.d'] } },
    { id: 'b.d', parent: 'b', role: 'dependency', priority: 'C' },
  );
  const cycle = ['top.d.p', 'top.d.p.d', SCANNER, 'b', 'b.d', PRINTER];
  const inCycle = (id: string): Link | undefined => (cycle.includes(id) ? find(id) : undefined);
  assert.deepEqual(
    victim(cycle, inCycle, 'hierarchical'),
    ['top.d.p', 'top.d.p.d'],
    'the task it serves is not in this cycle',
  );
  assert.deepEqual(victim(['top', 'top.d', ...cycle], find, 'hierarchical'), ['b', 'b.d']);
});

test('a task that waits for its own budget gives up the child that holds a share of it', () => {
  const find = linksOf(
    { id: 'a', priority: 'D', waits: { tasks: ['a.c'], budget: 'tokens' } },
    { id: 'a.c', parent: 'a', priority: 'A', role: 'task', waits: { tasks: ['a.c.d'] } },
    { id: 'a.c.d', parent: 'a.c', role: 'dependency', priority: 'A' },
  );
  assert.deepEqual(victim(['a', budgetNode('a'), 'a.c', 'a.c.d', PRINTER], find, 'hierarchical'), ['a', 'a.c']);
});

test('every kind of node has a name that no task has, and a text for people', () => {
  const nodes = ['t', turnNode('ann'), PRINTER, agentNode('ann'), HUMAN_NODE, budgetNode('t')];
  assert.deepEqual(nodes.map(nodeKind), ['task', 'conversation', 'resource', 'agent', 'human', 'budget']);
  assert.equal(
    cycleText(nodes),
    't → the conversation ann → the resource printer → capacity at ann → you → the budget of t → t',
  );
});
