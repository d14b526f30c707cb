/** Cycles that nothing else touches are drawn as rings, in the order of their edges. */
import type { LayoutReply, LayoutRequest, Point } from './layout.ts';

/** A ring of more boxes than this would not fit on any screen. */
const SIZE_MAX = 6;
const MARGIN_PX = 16;
/** Between two boxes of one row, for the words on their edge. */
const ROOM_PX = 170;
/** How far an edge bends away from the middle. */
const BEND_PX = 26;

type Edges = LayoutRequest['edges'];
type Ring = string[];

export function ringsOf(nodes: readonly string[], edges: Edges): Ring[] {
  const rings: Ring[] = [];
  const isAlone = (id: string): boolean =>
    edges.filter(({ from }) => from === id).length === 1 && edges.filter(({ to }) => to === id).length === 1;
  const left = new Set(nodes.filter(isAlone));
  for (const first of left) {
    const ring: Ring = [];
    for (let id = first; left.delete(id); id = edges.find(({ from }) => from === id)!.to) ring.push(id);
    const isClosed = edges.some(({ from, to }) => from === ring.at(-1) && to === first);
    if (isClosed && ring.length > 1 && ring.length <= SIZE_MAX) rings.push(ring);
  }
  return rings;
}

export interface PlacedRing {
  width: number;
  height: number;
  middle: Point;
  nodes: Map<string, Point>;
  edges: Map<string, LayoutReply['edges'][number]>;
}

/** The first box is at the top, and the others follow clockwise. */
export function placeRing(ring: Ring, box: LayoutRequest['size'], top: number): PlacedRing {
  const radius = { x: (box.width + ROOM_PX) / 2, y: ring.length === 2 ? 0 : box.height + 44 };
  const angles = ring.map((_, i) =>
    ring.length === 2 ? Math.PI * (1 - i) : -Math.PI / 2 + (2 * Math.PI * i) / ring.length,
  );
  const spots = angles.map((angle) => ({ x: radius.x * Math.cos(angle), y: radius.y * Math.sin(angle) }));
  const spread = Math.max(...spots.map(({ x }) => Math.abs(x))) * 2;
  // Two boxes beside each other need this room, whatever the angle between them.
  const wider = Math.max(1, (box.width + ROOM_PX) / spread);
  const lowest = Math.min(...spots.map(({ y }) => y));
  const width = spread * wider + box.width + 2 * MARGIN_PX;
  const start = top + MARGIN_PX + BEND_PX + box.height / 2 - lowest;
  const middle = { x: width / 2, y: start };
  const placed = spots.map(({ x, y }) => ({ x: middle.x + x * wider, y: middle.y + y }));
  const nodes = new Map(ring.map((id, i) => [id, placed[i]!]));
  const edges = new Map(ring.map((id, i) => [id, arc(placed[i]!, placed[(i + 1) % ring.length]!, middle, box)]));
  const height = start + Math.max(...spots.map(({ y }) => y)) + box.height / 2 + BEND_PX + MARGIN_PX - top;
  return { width, height, middle, nodes, edges };
}

/** From the side of one box to the side of the next, away from the middle. */
function arc(from: Point, to: Point, middle: Point, box: LayoutRequest['size']): LayoutReply['edges'][number] {
  const half = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const [dx, dy] = [half.x - middle.x, half.y - middle.y];
  // Two boxes have their middle between them: one edge goes above it, the other below.
  const [ox, oy] =
    Math.hypot(dx, dy) < 1 ? [0, from.x < to.x ? -1 : 1] : [dx / Math.hypot(dx, dy), dy / Math.hypot(dx, dy)];
  const bend = { x: half.x + 2 * BEND_PX * ox, y: half.y + 2 * BEND_PX * oy };
  const start = side(from, bend, box);
  const end = side(to, bend, box);
  const label = { x: start.x / 4 + bend.x / 2 + end.x / 4, y: start.y / 4 + bend.y / 2 + end.y / 4 };
  return { points: [start, bend, end], label, isArc: true };
}

/** Where the line from the middle of a box to a point leaves the box. */
function side(middle: Point, towards: Point, { width, height }: LayoutRequest['size']): Point {
  const [dx, dy] = [towards.x - middle.x, towards.y - middle.y];
  const part = Math.min(width / 2 / Math.abs(dx || 1), height / 2 / Math.abs(dy || 1));
  return { x: middle.x + dx * part, y: middle.y + dy * part };
}
