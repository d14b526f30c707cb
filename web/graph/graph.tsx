/** A layered graph, drawn as SVG. The same content is a list below it. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import type { Look } from '../parts.tsx';
import { visible } from '../text.ts';
import { layout, type Box, type LayoutReply, type Point } from './layout.ts';
import { linesOf, widthOf } from './lines.ts';

interface GraphNode {
  id: string;
  title: string;
  /** Below the title: who or what the node is, and its state. */
  about?: string;
  look?: Look;
  /** `about` and the state share a line, with the state on the right. */
  hasLookLast?: boolean;
  kind: string;
  isChosen?: boolean;
}

interface GraphEdge {
  from: string;
  to: string;
  label: string;
  /** A second line of the label, where there is room for it. */
  note?: string;
  isBad: boolean;
  /** This one was given up. */
  isCut?: boolean;
}

/** Nodes inside a frame with a label. */
interface GraphGroup {
  id: string;
  members: string[];
  label: string;
  /** Shown while the pointer is on the frame. */
  about?: string;
}

const SCALE_MIN = 0.84;
/** On each side of a label, so that its line bends where it can be seen. */
const BEND_PX = 7;
const HEIGHT = 54;
/** A second line of a title. */
const LINE_PX = 15;
const ICON_PX = 14;
const TITLE_FONT = '600 12px';
const SMALL_FONT = '11px';

interface GraphProps {
  nodes: GraphNode[];
  edges: GraphEdge[];
  groups?: readonly GraphGroup[];
  /** The width of a box, for the longest title that should be whole. */
  boxPx: number;
  open: (id: string) => void;
  /** Whether the edges are listed below the drawing; false if the page lists them itself. */
  hasList?: boolean;
}

export function Graph({ nodes, edges, groups = [], boxPx, open, hasList = true }: GraphProps): JSX.Element {
  const known = new Set(nodes.map(({ id }) => id));
  const drawn = edges.filter(({ from, to }) => known.has(from) && known.has(to));
  const [laid, setLaid] = useState<Laid>();
  // All boxes are as high as the highest.
  const isTall = nodes.some(({ title }) => titleLines(title, boxPx).length > 1);
  const hasThird = nodes.some(({ look, hasLookLast = false }) => look !== undefined && !hasLookLast);
  const height = HEIGHT + (isTall ? LINE_PX : 0) + (hasThird ? LINE_PX : 0);
  const key = JSON.stringify([
    height,
    nodes.map(({ id }) => id),
    drawn.map(({ from, to, label }) => [from, to, label]),
    groups,
  ]);
  useEffect(() => {
    let isCurrent = true;
    const request = {
      nodes: nodes.map(({ id }) => id),
      edges: drawn.map(({ from, to, label }) => ({ from, to, width: widthOf(label) + 2 * BEND_PX })),
      groups: groups.map(({ members }) => members.filter((id) => known.has(id))),
      size: { width: boxPx, height },
    };
    void layout(request).then((reply) => isCurrent && setLaid({ key, reply, height, nodes, edges: drawn, groups }));
    return () => void (isCurrent = false);
  }, [key]);
  return (
    <>
      {laid !== undefined && (
        // The last drawing stays until the next one is laid out.
        <Drawing {...laid} {...(laid.key === key ? { nodes, edges: drawn, groups } : {})} boxPx={boxPx} open={open} />
      )}
      {hasList && <EdgeList nodes={nodes} edges={edges} />}
    </>
  );
}

function EdgeList({ nodes, edges }: { nodes: GraphNode[]; edges: GraphEdge[] }): JSX.Element {
  const title = new Map(nodes.map((node) => [node.id, node.title]));
  return (
    <ul class="list edges">
      {edges.map((edge, i) => (
        <li key={i} class={edge.isBad ? 'bad' : ''}>
          <b class="one">{visible(title.get(edge.from) ?? edge.from)}</b>
          <span class="dim">{edge.label} →</span>
          <span class="one">{visible(title.get(edge.to) ?? edge.to)}</span>
        </li>
      ))}
    </ul>
  );
}

interface Laid {
  key: string;
  reply: LayoutReply;
  /** Of a box. */
  height: number;
  nodes: GraphNode[];
  edges: GraphEdge[];
  groups: readonly GraphGroup[];
}

interface DrawingProps extends Omit<Laid, 'key'> {
  boxPx: number;
  open: (id: string) => void;
}

function Drawing({ reply, height, nodes, edges, groups, boxPx, open }: DrawingProps): JSX.Element {
  const ids = nodes.map(({ id }) => id);
  const lines = linesOf(reply, ids, edges, boxPx);
  return (
    <div class="scrollx canvas" role="region" tabIndex={0} aria-label="Graph">
      <svg
        class="g"
        viewBox={`0 0 ${reply.width} ${reply.height}`}
        width={reply.width}
        // Shrinks to fit before it scrolls, but stays large enough to read.
        style={{ maxWidth: `max(100%, ${reply.width * SCALE_MIN}px)`, height: 'auto' }}
        role="img"
        aria-label="Graph; the list below has the same content"
      >
        <defs>
          {['arrow', 'arrow-bad'].map((id) => (
            <marker
              key={id}
              id={id}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="9"
              markerHeight="9"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" class={id === 'arrow' ? 'tip' : 'tip bad'} />
            </marker>
          ))}
        </defs>
        {groups.map((group, i) => (
          <Frame key={group.id} at={reply.groups[i]} group={group} />
        ))}
        {edges.map((edge, i) => (
          <path
            key={i}
            class={edge.isBad ? (edge.isCut === true ? 'e cyc gave' : 'e cyc') : `e ${edge.label.replaceAll(' ', '-')}`}
            d={lines[i]!.path}
            marker-end={edge.isBad ? 'url(#arrow-bad)' : 'url(#arrow)'}
          />
        ))}
        {edges.map((edge, i) => (
          <Label key={i} at={lines[i]!.label} edge={edge} hasNote={reply.edges[i]?.isArc === true} />
        ))}
        {reply.rings.map(({ at: middle, size }, i) => (
          <text key={i} class="ring" x={middle.x} y={middle.y + 5} text-anchor="middle">
            Cycle of {size}
          </text>
        ))}
        {nodes.map((node, i) => (
          <Node key={node.id} node={node} at={reply.nodes[i]!} width={boxPx} height={height} open={open} />
        ))}
      </svg>
    </div>
  );
}

/** A team whose members are all drawn in other frames has no frame. */
function Frame({ at: box, group }: { at: Box | undefined; group: GraphGroup }): JSX.Element | null {
  const { label, about } = group;
  if (box === undefined) return null;
  return (
    <g class="team">
      {about !== undefined && <title>{visible(about)}</title>}
      <rect x={box.x - box.width / 2} y={box.y - box.height / 2} width={box.width} height={box.height} rx="8" />
      <text class="sm" x={box.x - box.width / 2 + 12} y={box.y - box.height / 2 + 17}>
        {fitted(visible(label), box.width - 16, SMALL_FONT)}
      </text>
    </g>
  );
}

/** The width of a note below a label. */
const NOTE_PX = 150;

function Label({ at: middle, edge, hasNote }: { at?: Point; edge: GraphEdge; hasNote: boolean }): JSX.Element | null {
  const { label, isBad } = edge;
  if (middle === undefined || label === '') return null;
  const note = hasNote && edge.note !== undefined ? fitted(visible(edge.note), NOTE_PX, SMALL_FONT) : undefined;
  const width = Math.max(widthOf(label), note === undefined ? 0 : textWidth(note, SMALL_FONT) + 8);
  return (
    <g class={isBad ? 'el bad' : 'el'}>
      {note !== undefined && <title>{visible(edge.note!)}</title>}
      <rect x={middle.x - width / 2} y={middle.y - 8} width={width} height={note === undefined ? 16 : 31} />
      <text class="sm" x={middle.x} y={middle.y + 4} text-anchor="middle">
        {visible(label)}
      </text>
      {note !== undefined && (
        <text class="sm note" x={middle.x} y={middle.y + 4 + LINE_PX} text-anchor="middle">
          {note}
        </text>
      )}
    </g>
  );
}

interface NodeProps {
  node: GraphNode;
  at: Point;
  width: number;
  height: number;
  open: (id: string) => void;
}

function Node({ node, at, width, height, open }: NodeProps): JSX.Element {
  const { about, look, hasLookLast = false } = node;
  const state = look === undefined ? 0 : ICON_PX + 4 + textWidth(look.word, SMALL_FONT);
  const room = width - 24 - (hasLookLast ? state + 8 : 0);
  return (
    <g
      class={`nd ${node.kind}${node.isChosen === true ? ' on' : ''}`}
      transform={`translate(${at.x - width / 2} ${at.y - height / 2})`}
      onClick={() => open(node.id)}
    >
      <title>{visible(node.title)}</title>
      <rect class="node" width={width} height={height} rx="8" />
      {titleLines(node.title, width).map((line, i) => (
        <text key={i} class="nm" x="12" y={22 + i * LINE_PX}>
          {line}
        </text>
      ))}
      {about !== undefined && (
        <text class="sm" x="12" y={height - 13}>
          {fitted(visible(about), room, SMALL_FONT)}
        </text>
      )}
      {look !== undefined && (
        <State
          look={look}
          top={height - 24 - (hasLookLast ? 0 : LINE_PX)}
          left={hasLookLast ? width - 12 - state : 12}
        />
      )}
    </g>
  );
}

/** An icon and a word, as everywhere. */
function State({ look: { word, icon, tone }, left, top }: { look: Look; left: number; top: number }): JSX.Element {
  return (
    <g class={`st ${tone}`}>
      <svg x={left} y={top} width={ICON_PX} height={ICON_PX} viewBox="0 0 16 16">
        <Icon name={icon} />
      </svg>
      <text class="sm" x={left + ICON_PX + 4} y={top + 11}>
        {word}
      </text>
    </g>
  );
}

/** A title on one line or two. */
function titleLines(title: string, width: number): string[] {
  const text = visible(title);
  const px = width - 24;
  const first = fitted(text, px, TITLE_FONT);
  if (first === text) return [text];
  // At the last space that has room; a long word is cut where the line ends.
  const cut = text.lastIndexOf(' ', first.length - 1);
  const at = cut > 0 ? cut : first.length - 1;
  return [text.slice(0, at), fitted(text.slice(at).trim(), px, TITLE_FONT)];
}

let pen: CanvasRenderingContext2D | undefined;

function textWidth(text: string, font: string): number {
  pen ??= document.createElement('canvas').getContext('2d')!;
  pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** The text, or as much of its start as has room. */
function fitted(text: string, px: number, font: string): string {
  if (textWidth(text, font) <= px) return text;
  let length = text.length;
  while (length > 0 && textWidth(`${text.slice(0, length)}…`, font) > px) length--;
  return `${text.slice(0, length).trimEnd()}…`;
}
