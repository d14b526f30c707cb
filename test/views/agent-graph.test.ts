/** The graph of agents shows every step once, in every format. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentGraph, drawGraph } from '../../src/views/agent-graph.js';
import { checkRoster } from '../../src/rules/scheduling/roster.js';
import { advisors, agent, team } from '../kit/rule-play.js';

const AGENTS = [
  agent('desk', {
    router: { destinations: ['office', 'clerk'], fallback: 'night' },
    agents: ['office', 'clerk'],
    handoff: 'end',
  }),
  agent('office', { advisors: advisors('legal'), team: team(['ann']), agents: ['clerk'] }),
  agent('clerk'),
];

test('every step of every pattern is an edge, and a destination appears once', () => {
  const { agents, edges } = agentGraph(AGENTS);
  assert.deepEqual(agents, [
    { name: 'clerk', terminal: true },
    { name: 'desk', terminal: false },
    { name: 'office', terminal: true },
  ]);
  assert.deepEqual(
    edges.map(({ from, step, to }) => `${from} ${step} ${to}`),
    [
      'desk route office',
      'desk route clerk',
      'desk fallback night',
      'desk handoff end',
      'office advisor legal',
      'office member ann',
      'office delegates clerk',
    ],
  );
});

test('the text marks terminal agents', () => {
  assert.deepEqual(drawGraph(agentGraph(AGENTS), 'text').slice(0, 6), [
    'clerk  ■ gives the final answer',
    'desk',
    '├─ route → office',
    '├─ route → clerk',
    '├─ fallback → night',
    '└─ handoff → end',
  ]);
});

test('Mermaid and DOT draw all agents and dash the choices', () => {
  const mermaid = drawGraph(agentGraph(AGENTS), 'mermaid');
  assert.equal(mermaid[0], 'graph LR');
  assert.ok(mermaid.includes('  a1(["clerk"])'));
  assert.ok(mermaid.some((line) => /a2 -\. route \.-> a3/.test(line)));
  assert.ok(mermaid.some((line) => /a2 -- handoff --> a\d/.test(line)));
  for (const name of ['night', 'end', 'legal', 'ann'])
    assert.ok(
      mermaid.some((line) => line.includes(`"${name}"`)),
      name,
    );
  const dot = drawGraph(agentGraph(AGENTS), 'dot').join('\n');
  assert.match(dot, /"office" -> "legal" \[label="advisor"\];/);
  assert.match(dot, /"office" -> "clerk" \[label="delegates", style=dashed\];/);
  assert.match(dot, /"clerk" \[shape=doubleoctagon\];/);
});

test('a chain of ten thousand agents is drawn and checked, and its cycle is reported', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => agent(`a${i}`, { handoff: `a${i + 1}` }));
  many.push(agent('a10000'));
  assert.deepEqual(checkRoster(many, new Set()), []);
  assert.equal(agentGraph(many).edges.length, 10_000);
  assert.equal(drawGraph(agentGraph(many), 'mermaid').length, 20_002);
  many[10_000] = agent('a10000', { handoff: 'a9998' });
  const [cycle, ...more] = checkRoster(many, new Set());
  assert.equal(cycle!.message, 'these agents form a cycle: a10000 → a9998 → a9999 → a10000');
  assert.deepEqual(more, []);
});
