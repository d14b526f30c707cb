/**
 * The wait-for graph finds the same cycles as a full search of all waits, whatever is added and
 * removed.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../kit/properties.js';
import { waitGraph, type WaitGraph } from '../../../src/rules/coordination/wait-graph.js';

test('a wait that closes a cycle is refused, and the cycle is named', () => {
  const graph = waitGraph();
  assert.equal(graph.addEdge('a', 'b'), undefined);
  assert.equal(graph.addEdge('b', 'c'), undefined);
  assert.deepEqual(graph.wouldClose('c', 'a'), ['c', 'a', 'b']);
  assert.deepEqual(graph.addEdge('c', 'a'), ['c', 'a', 'b']);
  assert.equal(graph.edges(), 2);
  assert.deepEqual(graph.addEdge('a', 'a'), ['a']);
  graph.removeEdge('a', 'b');
  assert.equal(graph.addEdge('c', 'a'), undefined, 'a wait that was removed no longer counts');
  assert.deepEqual([graph.nodes(), graph.edges()], [3, 2]);
});

test('a node without waits and waiters is forgotten', () => {
  const graph = waitGraph();
  for (let n = 0; n < 100; n++) graph.addEdge(`t${n}`, `t${n + 1}`);
  for (let n = 99; n >= 0; n--) graph.removeEdge(`t${n}`, `t${n + 1}`);
  assert.deepEqual([graph.nodes(), graph.edges()], [0, 0]);
});

test('a chain of 200,000 waits does not overflow the stack', () => {
  const graph = waitGraph();
  for (let n = 200_000; n > 0; n--) assert.equal(graph.addEdge(`t${n - 1}`, `t${n}`), undefined);
  assert.equal(graph.addEdge('t200000', 't0')?.length, 200_001);
});

test('a chain that grows at its other end does not overflow it either', () => {
  const graph = waitGraph();
  for (let n = 0; n < 100_000; n++) assert.equal(graph.addEdge(`t${n}`, `t${n + 1}`), undefined);
  assert.equal(graph.wouldClose('t100000', 't0')?.length, 100_001);
  assert.equal(graph.addEdge('t0', 't100000'), undefined);
});

test('a wait that is added twice counts once', () => {
  const graph = waitGraph();
  for (let n = 0; n < 2; n++) assert.equal(graph.addEdge('a', 'b'), undefined);
  assert.equal(graph.edges(), 1);
  assert.equal(graph.wouldClose('a', 'b'), undefined);
  graph.removeEdge('a', 'b');
  assert.deepEqual([graph.nodes(), graph.edges(), graph.addEdge('b', 'a')], [0, 0, undefined]);
});

type Step = { do: 'add' | 'ask' | 'cut' | 'leave'; from: number; to: number };

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('add', 'add', 'add', 'add', 'ask', 'cut', 'leave'),
  from: fc.nat(11),
  to: fc.nat(11),
});

test('the graph agrees with a full search after any sequence of changes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const graph = waitGraph();
      const plain = new Map<string, Set<string>>();
      for (const one of steps) {
        const [from, to] = [`n${one.from}`, `n${one.to}`];
        if (one.do === 'cut') {
          graph.removeEdge(from, to);
          plain.get(from)?.delete(to);
        } else if (one.do === 'leave') {
          leaves(graph, plain, from);
        } else {
          const isThere = plain.get(from)?.has(to) ?? false;
          const closes = !isThere && reaches(plain, to, from);
          const cycle = one.do === 'add' ? graph.addEdge(from, to) : graph.wouldClose(from, to);
          assert.equal(cycle !== undefined, closes);
          if (cycle !== undefined) isCycle(plain, cycle, from, to);
          else if (one.do === 'add') plain.set(from, (plain.get(from) ?? new Set()).add(to));
        }
        const all = [...plain].flatMap(([a, waits]) => [...waits].map((b) => [a, b]));
        assert.equal(graph.edges(), all.length);
      }
    }),
    { numRuns: 400 },
  );
});

const MANY = 30;
const phase = fc.record({
  waits: fc.array(fc.tuple(fc.nat(MANY - 1), fc.nat(MANY - 1)), { minLength: 50, maxLength: 250 }),
  /** One of this many waits is kept. */
  keep: fc.integer({ min: 3, max: 12 }),
  leave: fc.nat(MANY - 1),
});

test('after many unordered waits came and went, every pair is answered as by a full search', () => {
  fc.assert(
    fc.property(fc.array(phase, { minLength: 2, maxLength: 4 }), (phases) => {
      const graph = waitGraph();
      const plain = new Map<string, Set<string>>();
      for (const { waits, keep, leave } of phases) {
        for (const [a, b] of waits) {
          const [from, to] = [`n${a}`, `n${b}`];
          const closes = reaches(plain, to, from);
          assert.equal(graph.addEdge(from, to) !== undefined, closes);
          if (!closes) plain.set(from, (plain.get(from) ?? new Set()).add(to));
        }
        agree(graph, plain);
        const held = [...plain].flatMap(([a, own]) => [...own].map((b): [string, string] => [a, b]));
        for (const [a, b] of held.filter((_, i) => i % keep !== 0)) {
          graph.removeEdge(a, b);
          plain.get(a)!.delete(b);
        }
        leaves(graph, plain, `n${leave}`);
        agree(graph, plain);
      }
    }),
    { numRuns: 60 },
  );
});

/** Removes every wait to and from the node. */
function leaves(graph: WaitGraph, plain: Map<string, Set<string>>, node: string): void {
  for (const to of plain.get(node) ?? []) graph.removeEdge(node, to);
  for (const [from, waits] of plain) if (waits.delete(node)) graph.removeEdge(from, node);
  plain.delete(node);
}

function agree(graph: WaitGraph, plain: ReadonlyMap<string, ReadonlySet<string>>): void {
  const names = [...Array(MANY).keys()].map((n) => `n${n}`);
  for (const from of names) {
    for (const to of names) {
      const cycle = graph.wouldClose(from, to);
      assert.equal(cycle !== undefined, reaches(plain, to, from), `${from} for ${to}`);
      if (cycle !== undefined) isCycle(plain, cycle, from, to);
    }
  }
}

function reaches(plain: ReadonlyMap<string, ReadonlySet<string>>, start: string, goal: string): boolean {
  const seen = new Set<string>();
  const stack = [start];
  while (stack.length > 0) {
    const at = stack.pop()!;
    if (at === goal) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    stack.push(...(plain.get(at) ?? []));
  }
  return false;
}

/** Every step of it is a wait, except the one that was refused. */
function isCycle(plain: ReadonlyMap<string, ReadonlySet<string>>, cycle: string[], from: string, to: string): void {
  assert.equal(cycle[0], from);
  assert.equal(new Set(cycle).size, cycle.length);
  if (from === to) return;
  assert.equal(cycle[1], to);
  for (let i = 1; i < cycle.length; i++) assert.ok(plain.get(cycle[i]!)?.has(cycle[(i + 1) % cycle.length]!));
}
