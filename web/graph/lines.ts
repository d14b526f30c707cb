/** The lines between the boxes of a graph, and the places of their labels. */
import type { LayoutReply, Point } from './layout.ts';

interface Edge {
  from: string;
  to: string;
  label: string;
}

interface Line {
  path: string;
  label: Point | undefined;
}

const LABEL_HIGH_PX = 17;
/** Where on its line a label can stand: in the middle, or beside a label that is there already. */
const PLACES = [0.5, 0.38, 0.62, 0.3, 0.7];

export function linesOf(reply: LayoutReply, ids: readonly string[], edges: readonly Edge[], boxPx: number): Line[] {
  const boxes = new Map(ids.map((id, i) => [id, reply.nodes[i]!]));
  const labels: (Point & { width: number })[] = [];
  const isFree = ({ x, y }: Point, width: number): boolean =>
    labels.every((each) => Math.abs(each.x - x) > (each.width + width) / 2 || Math.abs(each.y - y) > LABEL_HIGH_PX);
  return edges.map(({ from, to, label }, i) => {
    const laid = reply.edges[i];
    const [start, end] = [boxes.get(from), boxes.get(to)];
    if (laid === undefined || start === undefined || end === undefined) return { path: '', label: undefined };
    const { points, isArc = false } = laid;
    if (isArc) return { path: `M${at(points[0]!)} Q${at(points[1]!)} ${at(points[2]!)}`, label: laid.label };
    const ends: [Point, Point] = [
      { x: start.x + boxPx / 2, y: start.y },
      { x: end.x - boxPx / 2, y: end.y },
    ];
    if (!isBetweenNeighbours(ends, reply.nodes, boxPx))
      return { path: curve(pastLabel(sideways(points, ends), laid.label, label)), label: laid.label };
    const width = widthOf(label);
    const places = PLACES.map((share) => pointOf(ends, share));
    const place = places.find((each) => isFree(each, width)) ?? places[0]!;
    labels.push({ ...place, width });
    return { path: curve(ends), label: place };
  });
}

export function widthOf(label: string): number {
  return label.length * 5.8 + 8;
}

/** It leads right, and no box is in the columns between its ends. */
function isBetweenNeighbours([start, end]: [Point, Point], boxes: readonly Point[], width: number): boolean {
  return start.x < end.x && boxes.every(({ x }) => x + width / 2 <= start.x + 1 || x - width / 2 >= end.x - 1);
}

/** The point of a curve with horizontal ends, at a share of its length. */
function pointOf([start, end]: [Point, Point], share: number): Point {
  const near = (1 - share) ** 2 * (1 + 2 * share);
  const bend = 3 * share * (1 - share);
  const middle = (start.x + end.x) / 2;
  return {
    x: (1 - share) ** 3 * start.x + bend * middle + share ** 3 * end.x,
    y: near * start.y + (1 - near) * end.y,
  };
}

/** From the right side of one box to the left side of the next, if the layout leads right. */
function sideways(points: readonly Point[], [start, end]: [Point, Point]): Point[] {
  if (end.x < start.x) return [...points];
  return [start, ...points.slice(1, -1).filter(({ x }) => x > start.x && x < end.x), end];
}

/** A straight line behind the label, which covers that part of it. */
function pastLabel(points: readonly Point[], middle: Point, label: string): Point[] {
  const half = widthOf(label) / 2;
  const way = (points.at(-1)?.x ?? 0) < (points[0]?.x ?? 0) ? -1 : 1;
  return points.flatMap((point) =>
    point.x === middle.x && point.y === middle.y
      ? [-way, way].map((side) => ({ x: point.x + side * half, y: point.y }))
      : [point],
  );
}

/** Through the points, with horizontal ends, so that an edge leaves and enters a box straight. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let before = first;
  return `M${at(first)} ${rest
    .map((point) => {
      const middle = (before.x + point.x) / 2;
      const part = `C${at({ x: middle, y: before.y })} ${at({ x: middle, y: point.y })} ${at(point)}`;
      before = point;
      return part;
    })
    .join(' ')}`;
}

function at({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
