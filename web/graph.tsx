/** A layered graph, drawn as SVG. The same content is a list below it. The layout loads when needed. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { visible } from './text.ts';

export interface GraphNode {
  id: string;
  title: string;
  about: string;
  kind: string;
}

export interface GraphEdge {
  from: string;
  to: string;
  label: string;
  isBad: boolean;
}

interface Laid {
  width: number;
  height: number;
  nodes: (GraphNode & { x: number; y: number })[];
  edges: (GraphEdge & { points: { x: number; y: number }[] })[];
}

const NODE = { width: 190, height: 44 };

export function Graph({
  nodes,
  edges,
  open,
}: {
  nodes: GraphNode[];
  edges: GraphEdge[];
  open: (id: string) => void;
}): JSX.Element {
  const [laid, setLaid] = useState<Laid>();
  const key = JSON.stringify([nodes, edges]);
  useEffect(() => {
    let isCurrent = true;
    void layout(nodes, edges).then((result) => isCurrent && setLaid(result));
    return () => void (isCurrent = false);
  }, [key]);
  const title = new Map(nodes.map((node) => [node.id, node.title]));
  return (
    <>
      {laid !== undefined && <Drawing laid={laid} open={open} />}
      <ul class="list edges">
        {edges.map((edge, i) => (
          <li key={i} class={edge.isBad ? 'bad' : ''}>
            <b class="one">{visible(title.get(edge.from) ?? edge.from)}</b>
            <span class="dim">{edge.label} →</span>
            <span class="one">{visible(title.get(edge.to) ?? edge.to)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Drawing({ laid, open }: { laid: Laid; open: (id: string) => void }): JSX.Element {
  return (
    <div class="scrollx" tabIndex={0}>
      <svg
        class="g"
        viewBox={`0 0 ${laid.width} ${laid.height}`}
        width={laid.width}
        height={laid.height}
        role="img"
        aria-label="Graph; the list below has the same content"
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M0 0 8 4 0 8z" class="head" />
          </marker>
        </defs>
        {laid.edges.map((edge, i) => (
          <path
            key={i}
            class={edge.isBad ? 'e cyc' : `e ${edge.label}`}
            d={pathOf(edge.points)}
            marker-end="url(#arrow)"
          >
            <title>{edge.label}</title>
          </path>
        ))}
        {laid.nodes.map((node) => (
          <g
            key={node.id}
            class={`nd ${node.kind}`}
            transform={`translate(${node.x - NODE.width / 2} ${node.y - NODE.height / 2})`}
            onClick={() => open(node.id)}
          >
            <title>{visible(node.about || node.title)}</title>
            <rect class="node" width={NODE.width} height={NODE.height} rx="6" />
            <text class="nm" x="12" y="19">
              {cut(visible(node.title), 24)}
            </text>
            <text class="sm" x="12" y="35">
              {cut(visible(node.about), 30)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

async function layout(nodes: GraphNode[], edges: GraphEdge[]): Promise<Laid> {
  const dagre = await import('@dagrejs/dagre');
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 56, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node.id, { ...NODE });
  const known = new Set(nodes.map((node) => node.id));
  const drawn = edges.filter((edge) => known.has(edge.from) && known.has(edge.to));
  for (const [i, edge] of drawn.entries()) graph.setEdge(edge.from, edge.to, {}, String(i));
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: nodes.map((node) => ({ ...node, ...at(graph.node(node.id)) })),
    edges: drawn.map((edge, i) => ({ ...edge, points: graph.edge(edge.from, edge.to, String(i)).points ?? [] })),
  };
}

function at({ x = 0, y = 0 }: { x?: number; y?: number }): { x: number; y: number } {
  return { x, y };
}

function pathOf(points: readonly { x: number; y: number }[]): string {
  return points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(' ');
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
