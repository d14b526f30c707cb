/** Lays out a graph away from the page, so that a large one never blocks a click. */
import dagre from '@dagrejs/dagre';
import type { LayoutReply, LayoutRequest } from './layout.ts';

const scope = self as unknown as {
  addEventListener(type: 'message', hear: (event: MessageEvent<LayoutRequest>) => void): void;
  postMessage(reply: LayoutReply): void;
};

scope.addEventListener('message', ({ data: { id, nodes, edges, size } }) => {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 18, ranksep: 36, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(node, { ...size });
  for (const [i, { from, to, width: label }] of edges.entries())
    graph.setEdge(from, to, { width: label, height: 16, labelpos: 'c' }, String(i));
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const reply: LayoutReply = {
    id,
    width,
    height,
    nodes: nodes.map((node) => {
      const { x = 0, y = 0 } = graph.node(node);
      return { x, y };
    }),
    edges: edges.map(({ from, to }, i) => {
      const { points = [], x = 0, y = 0 } = graph.edge(from, to, String(i));
      return { points, label: { x, y } };
    }),
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
  scope.postMessage(reply);
});
