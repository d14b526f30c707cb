/** Lays out a graph away from the page, so that a large one never blocks a click. */
import dagre from '@dagrejs/dagre';
import type { LayoutReply, LayoutRequest, Point } from './layout.ts';
import { placeRing, ringsOf, type PlacedRing } from './ring.ts';

/** Room for the label of a frame. */
const LABEL_PX = 24;
/** Between a frame and the boxes in it. */
const FRAME_PX = 8;

const scope = self as unknown as {
  addEventListener(type: 'message', hear: (event: MessageEvent<LayoutRequest>) => void): void;
  postMessage(reply: LayoutReply): void;
};

scope.addEventListener('message', ({ data }) => {
  const { id, nodes, edges, groups, size } = data;
  const rings: PlacedRing[] = [];
  let top = 0;
  for (const ring of ringsOf(nodes, edges)) {
    rings.push(placeRing(ring, size, top));
    top += rings.at(-1)!.height;
  }
  const ringOf = (node: string): PlacedRing | undefined => rings.find((ring) => ring.nodes.has(node));
  const graph = new dagre.graphlib.Graph({ multigraph: true, compound: true });
  graph.setGraph({
    rankdir: 'LR',
    nodesep: groups.length > 0 ? LABEL_PX + 20 : 18,
    ranksep: 8,
    marginx: 12,
    marginy: groups.length > 0 ? LABEL_PX + 8 : 16,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) if (ringOf(node) === undefined) graph.setNode(node, { ...size });
  const framed = frame(graph, groups);
  for (const [i, { from, to, width: label }] of edges.entries())
    if (ringOf(from) === undefined) graph.setEdge(from, to, { width: label, height: 16, labelpos: 'c' }, String(i));
  const isAllRing = graph.nodeCount() === 0;
  if (!isAllRing) dagre.layout(graph);
  const { width = 0, height = 0 } = isAllRing ? {} : graph.graph();
  const reply: LayoutReply = {
    id,
    width: Math.max(width, ...rings.map((ring) => ring.width)),
    height: height + top,
    rings: rings.map(({ middle, nodes: { size: count } }) => ({ at: middle, size: count })),
    nodes: nodes.map((node) => {
      const ring = ringOf(node)?.nodes.get(node);
      if (ring !== undefined) return ring;
      const { x = 0, y = 0 } = graph.node(node);
      return { x, y: y + top };
    }),
    edges: edges.map(({ from, to }, i) => {
      const ring = ringOf(from)?.edges.get(from);
      if (ring !== undefined) return ring;
      const { points = [], x = 0, y = 0 } = graph.edge(from, to, String(i));
      return { points: points.map((point: Point) => ({ x: point.x, y: point.y + top })), label: { x, y: y + top } };
    }),
    groups: groups.map((members, i) => {
      if (!framed.has(i)) return undefined;
      const boxes = members.filter((member) => graph.parent(member) === nameOf(i)).map((member) => graph.node(member));
      const [left, right] = [Math.min, Math.max].map((most) => most(...boxes.map(({ x = 0 }) => x)));
      const [first, last] = [Math.min, Math.max].map((most) => most(...boxes.map(({ y = 0 }) => y)));
      return {
        x: (left! + right!) / 2,
        y: (first! + last!) / 2 + top - LABEL_PX / 2,
        width: right! - left! + size.width + 2 * FRAME_PX,
        height: last! - first! + size.height + 2 * FRAME_PX + LABEL_PX,
      };
    }),
  };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
  scope.postMessage(reply);
});

/** Frames groups of nodes. A node can be in only one frame; returns the groups that got one. */
function frame(graph: InstanceType<typeof dagre.graphlib.Graph>, groups: readonly string[][]): Set<number> {
  const framed = new Set<number>();
  for (const [i, members] of groups.entries()) {
    const free = members.filter((member) => graph.parent(member) === undefined);
    if (free.length === 0) continue;
    framed.add(i);
    graph.setNode(nameOf(i), {});
    for (const member of free) graph.setParent(member, nameOf(i));
  }
  return framed;
}

/** No agent can have this name. */
function nameOf(group: number): string {
  return ` group ${group}`;
}
