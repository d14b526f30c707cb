/** The graph of a task shows requests, waits and dependencies, in every format. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeChild, makeTask, type Placed, type Task, type TaskState } from '../../src/domain/task/task.js';
import { drawTaskGraph, taskGraph } from '../../src/views/task-graph.js';

const AT = '2026-01-01T00:00:00.000Z';
const top = makeTask({
  id: 'top',
  description: 'Ship\nit',
  to: 'lead',
  created_at: AT,
  waits: { tasks: ['top.a', 'top.b'] },
});
const child = (parent: Task, id: string, more: Partial<Task> = {}): Task => ({
  ...makeChild(parent, { id: `${parent.id}.${id}`, role: 'call', to: id, description: `say "${id}"` }, AT),
  ...more,
});
const a = child(top, 'a');
const b = child(top, 'b', { waits: { tasks: ['top.b.ask'] }, dependencies: ['top.a', 'other'] });
const ask = child(b, 'ask', { to: 'human' });
const placed = (task: Task, state: TaskState): Placed => ({ task, state });
const TREE = [placed(top, 'waiting'), placed(a, 'completed'), placed(b, 'waiting'), placed(ask, 'pending')];

test('the graph has an edge for each request, open wait and dependency', () => {
  const { tasks, edges } = taskGraph(TREE);
  assert.deepEqual(
    tasks.map(({ id, state, depth }) => `${id} ${state} ${depth}`),
    ['top waiting 0', 'top.a completed 1', 'top.b waiting 1', 'top.b.ask pending 2', 'other undefined 0'],
  );
  assert.deepEqual(
    edges.map(({ from, step, to }) => `${from} ${step} ${to}`),
    [
      'top waits top.b',
      'top asked top.a',
      'top asked top.b',
      'top.b depends top.a',
      'top.b depends other',
      'top.b waits top.b.ask',
      'top.b asked top.b.ask',
    ],
  );
});

test('the text is a tree with the waits below each task', () => {
  assert.deepEqual(drawTaskGraph(taskGraph(TREE), 'text'), [
    '… top @lead Ship it',
    '│  ⇢ waits for top.b',
    '├─ ✓ a @a say "a"',
    '└─ … b @b say "b"',
    '   │  ⇢ depends on top.a',
    '   │  ⇢ depends on other',
    '   │  ⇢ waits for top.b.ask',
    '   └─ ○ ask @human say "ask"',
  ]);
});

test('Mermaid and DOT name every task once and every edge once', () => {
  const graph = taskGraph([placed({ ...top, id: 'a"b\\c' }, 'failed'), ...TREE.slice(1)]);
  const mermaid = drawTaskGraph(graph, 'mermaid');
  assert.equal(mermaid[0], 'graph TD');
  assert.ok(mermaid.includes('  t1["a#quot;b\\c<br/>@lead"]:::failed'), mermaid.join('\n'));
  assert.equal(mermaid.filter((line) => /^ {2}t\d+\[/.test(line)).length, graph.tasks.length);
  assert.equal(mermaid.filter((line) => line.includes('>  t') || /> t\d+$/.test(line)).length, graph.edges.length);
  const dot = drawTaskGraph(graph, 'dot');
  assert.equal(dot[0], 'digraph tasks {');
  assert.ok(
    dot.some((line) => line.startsWith('  "a\\"b\\\\c" [label="a\\"b\\\\c\\n@lead"')),
    dot.join('\n'),
  );
  assert.equal(dot.filter((line) => line.includes(' -> ')).length, graph.edges.length);
});

test('ten thousand tasks are drawn, and a subtree is drawn with its own top', () => {
  const many = Array.from({ length: 10_000 }, (_, n) => placed(child(top, `c${n}`), 'pending'));
  const lines = drawTaskGraph(taskGraph([placed({ ...top, waits: {} }, 'waiting'), ...many]), 'text');
  assert.equal(lines.length, 10_001);
  assert.match(lines.at(-1)!, /^└─ ○ c9999/);
  assert.deepEqual(drawTaskGraph(taskGraph([placed(b, 'completed'), placed(ask, 'completed')]), 'text').slice(-1), [
    '└─ ✓ ask @human say "ask"',
  ]);
});

test('waits for a person, capacity, a resource and a budget are drawn with their holders', () => {
  const rich = { ...top, waits: { tasks: ['top.a'], budget: 'tokens' as const } };
  const holds = { ...a, budget: { tokens: 500, microUsd: 20_000, timeMs: 1000 } };
  const tree = [placed(rich, 'waiting'), placed(holds, 'active'), placed(b, 'pending'), placed(ask, 'pending')];
  const waits: Record<string, string[]> = {
    top: ['budget:top'],
    'budget:top': ['top.a'],
    'top.b': ['top.a', 'agent:b', 'turn:resource-printer'],
    'agent:b': ['other-1', 'other-2'],
    'turn:resource-printer': ['top.a'],
    'top.b.ask': ['@human'],
  };
  const graph = taskGraph(tree, (node) => waits[node] ?? []);
  assert.deepEqual(drawTaskGraph(graph, 'text'), [
    '… top @lead Ship it',
    '│  ⇢ waits for the budget of top',
    '│  ⇠ top.a holds 500 tokens, $0.0200 of its budget',
    '├─ ● a @a say "a"',
    '└─ ○ b @b say "b"',
    '   │  ⇢ depends on top.a',
    '   │  ⇢ depends on other',
    '   │  ⇢ waits for capacity at b, busy with other-1, other-2',
    '   │  ⇢ waits for the resource printer, held by top.a',
    '   └─ ○ ask @human say "ask"',
    '         ⇢ waits for you',
  ]);
  assert.deepEqual(
    graph.nodes.map(({ id, kind, label }) => `${id} ${kind}: ${label}`),
    [
      'budget:top budget: the budget of top',
      'agent:b agent: capacity at b',
      'turn:resource-printer resource: the resource printer',
      '@human human: you',
    ],
  );
  assert.deepEqual(
    graph.edges.filter(({ share }) => share !== undefined),
    [{ from: 'budget:top', to: 'top.a', step: 'held', share: { tokens: 500, micro_usd: 20_000 } }],
  );
  for (const format of ['mermaid', 'dot'] as const) {
    const lines = drawTaskGraph(graph, format);
    const drawn = lines.filter((line) => / -> |\.->|-->|==>/.test(line));
    assert.equal(drawn.length, graph.edges.length, lines.join('\n'));
    for (const { label } of graph.nodes) assert.equal(lines.filter((line) => line.includes(`"${label}"`)).length, 1);
    assert.ok(!lines.join('\n').includes('undefined'), lines.join('\n'));
  }
});
