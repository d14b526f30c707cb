/** Draws agents and the steps between them, as text, Mermaid or DOT. */
import { isTerminal, type Agent } from '../domain/agent/agent.js';
import { compareText } from '../domain/order.js';

type Step = 'advisor' | 'member' | 'route' | 'fallback' | 'handoff' | 'delegates';

interface Edge {
  from: string;
  to: string;
  step: Step;
}

interface AgentGraph {
  agents: { name: string; terminal: boolean }[];
  edges: Edge[];
}

export const GRAPH_FORMATS = ['text', 'mermaid', 'dot'] as const;
type GraphFormat = (typeof GRAPH_FORMATS)[number];

export function agentGraph(agents: Iterable<Agent>): AgentGraph {
  const all = [...agents].sort((a, b) => compareText(a.name, b.name));
  return {
    agents: all.map((agent) => ({ name: agent.name, terminal: isTerminal(agent) })),
    edges: all.flatMap(edgesOf),
  };
}

function edgesOf(agent: Agent): Edge[] {
  const from = agent.name;
  const to = (names: readonly string[], step: Step): Edge[] => names.map((name) => ({ from, to: name, step }));
  const { destinations = [], fallback } = agent.router ?? {};
  const routed = new Set(destinations);
  return [
    ...to(
      agent.advisors.map((advisor) => advisor.agent),
      'advisor',
    ),
    ...to(agent.team?.members ?? [], 'member'),
    ...to(destinations, 'route'),
    ...to(fallback === undefined || routed.has(fallback) ? [] : [fallback], 'fallback'),
    ...to(agent.handoff === undefined ? [] : [agent.handoff], 'handoff'),
    ...to(
      agent.agents.filter((name) => !routed.has(name)),
      'delegates',
    ),
  ];
}

export function drawGraph(graph: AgentGraph, format: GraphFormat): string[] {
  return DRAW[format](graph);
}

const DRAW: Record<GraphFormat, (graph: AgentGraph) => string[]> = {
  text({ agents, edges }) {
    const from = new Map<string, Edge[]>();
    for (const edge of edges) from.set(edge.from, [...(from.get(edge.from) ?? []), edge]);
    return agents.flatMap(({ name, terminal }) => [
      `${name}${terminal ? '  ■ gives the final answer' : ''}`,
      ...(from.get(name) ?? []).map(({ to, step }, i, all) => `${i + 1 < all.length ? '├─' : '└─'} ${step} → ${to}`),
    ]);
  },
  mermaid({ agents, edges }) {
    const ids = new Map<string, string>();
    const id = (name: string): string => ids.get(name) ?? (ids.set(name, `a${ids.size + 1}`), ids.get(name)!);
    for (const { name } of agents) id(name);
    const named = [...new Set(edges.map((edge) => edge.to))];
    return [
      'graph LR',
      ...agents.map(({ name, terminal }) => `  ${id(name)}${terminal ? `(["${name}"])` : `["${name}"]`}`),
      ...named.filter((to) => !ids.has(to)).map((to) => `  ${id(to)}[/"${to}"/]`),
      ...edges.map(
        ({ from, to, step }) =>
          `  ${id(from)} ${isFixed(step) ? '--' : '-.'} ${step} ${isFixed(step) ? '-->' : '.->'} ${id(to)}`,
      ),
    ];
  },
  dot({ agents, edges }) {
    return [
      'digraph agents {',
      '  rankdir=LR;',
      ...agents.map(({ name, terminal }) => `  "${name}" [shape=${terminal ? 'doubleoctagon' : 'box'}];`),
      ...edges.map(
        ({ from, to, step }) => `  "${from}" -> "${to}" [label="${step}"${isFixed(step) ? '' : ', style=dashed'}];`,
      ),
      '}',
    ];
  },
};

/** Fixed steps are drawn solid, choices dashed. */
function isFixed(step: Step): boolean {
  return step === 'advisor' || step === 'member' || step === 'handoff';
}
