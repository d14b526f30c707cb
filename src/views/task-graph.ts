/**
 * A task and all under it as a picture: who was asked by whom, who waits for whom or for what, and who holds that, what depends on what; as text,
 * Mermaid or DOT.
 */
import { isEnded, type Placed, type TaskState } from '../domain/task/task.js';
import { gist } from './summary.js';
import { heldShares, shareText, type Share } from '../rules/budget/shares.js';
import { needed } from '../rules/coordination/agent-states.js';
import { budgetNode, nodeBudget, nodeKind, nodeText, type NodeKind } from '../rules/coordination/wait-node.js';
import { stemsOf } from './tree-lines.js';
import { toText } from './who.js';

/** held: who has what another waits for, or a share of a budget. */
type TaskStep = 'asked' | 'waits' | 'depends' | 'held';

interface TaskNode {
  id: string;
  kind: 'task';
  role: string;
  to?: string;
  /** Absent: it is only named, by something that depends on it from another tree. */
  state?: TaskState;
  description: string;
  /** How far below the top. */
  depth: number;
}

/** What is waited for and is no task. */
interface WaitNode {
  id: string;
  kind: Exclude<NodeKind, 'task'>;
  label: string;
}

interface TaskEdge {
  from: string;
  to: string;
  step: TaskStep;
  /** What it holds of a budget. */
  share?: Share;
}

interface TaskGraph {
  tasks: TaskNode[];
  nodes: WaitNode[];
  edges: TaskEdge[];
}

/**
 * `tree`: the top first, parents before their children, children of one parent in order. `waitsOf`: for what any node of the wait-for graph waits;
 * without it the records alone are drawn.
 */
export function taskGraph(tree: readonly Placed[], waitsOf: (node: string) => readonly string[] = nothing): TaskGraph {
  const inside = new Map<string, number>();
  const tasks = tree.map(({ task, state }, i): TaskNode => {
    const { id, role, to } = task;
    const depth = i === 0 ? 0 : (inside.get(task.parent ?? '') ?? 0) + 1;
    inside.set(id, depth);
    return { id, kind: 'task', role, state, description: gist(task), depth, ...(to === undefined ? {} : { to }) };
  });
  const things = thingEdges(tree, waitsOf);
  const edges = [...tree.flatMap((one, i) => edgesOf(one, i === 0)), ...things];
  const ended = new Set(tree.filter(({ state }) => isEnded(state)).map(({ task }) => task.id));
  const others = [...new Set(edges.map(({ to }) => to))].filter((id) => isTask(id) && !inside.has(id));
  const nodes = [...new Set(things.flatMap(({ from, to }) => [from, to]))].filter((id) => !isTask(id));
  return {
    tasks: [...tasks, ...others.map((id) => ({ id, kind: 'task' as const, role: 'other', description: '', depth: 0 }))],
    nodes: nodes.map((id) => ({ id, kind: nodeKind(id) as WaitNode['kind'], label: nodeText(id) })),
    // Waiting is over when what was waited for has ended; what depended on it still did.
    edges: edges.filter(({ to, step }) => step !== 'waits' || !ended.has(to)),
  };
}

function edgesOf(one: Placed, isTop: boolean): TaskEdge[] {
  const { task, state } = one;
  const step = (to: readonly string[], what: TaskStep): TaskEdge[] =>
    to.map((id) => ({ from: task.id, to: id, step: what }));
  return [
    ...(task.parent === undefined || isTop ? [] : [{ from: task.parent, to: task.id, step: 'asked' as const }]),
    ...step(task.dependencies, 'depends'),
    // Who waits for a budget waits for those who hold it: that is drawn with the budget.
    ...step(state === 'waiting' && task.waits?.budget === undefined ? needed(one) : [], 'waits'),
  ];
}

/** Waits for what is no task, and who holds that. */
function thingEdges(tree: readonly Placed[], waitsOf: (node: string) => readonly string[]): TaskEdge[] {
  const open = tree.filter(({ state }) => !isEnded(state));
  const waits = open.flatMap(({ task }) =>
    waitsOf(task.id)
      .filter((to) => !isTask(to))
      .map((to): TaskEdge => ({ from: task.id, to, step: 'waits' })),
  );
  const things = [...new Set(waits.map(({ to }) => to))].filter((node) => nodeBudget(node) === undefined);
  const held = things.flatMap((from) => waitsOf(from).map((to): TaskEdge => ({ from, to, step: 'held' })));
  const byParent = new Map<string, Placed[]>();
  for (const one of open)
    if (one.task.parent !== undefined) {
      const children = byParent.get(one.task.parent);
      if (children === undefined) byParent.set(one.task.parent, [one]);
      else children.push(one);
    }
  const shares = open.flatMap(({ task }) =>
    [...heldShares(byParent.get(task.id) ?? [])].map(([to, share]): TaskEdge => ({
      from: budgetNode(task.id),
      to,
      step: 'held',
      share,
    })),
  );
  return [...waits, ...held, ...shares];
}

function nothing(): readonly string[] {
  return [];
}

function isTask(node: string): boolean {
  return nodeKind(node) === 'task';
}

export const TASK_GRAPH_FORMATS = ['text', 'mermaid', 'dot'] as const;
type TaskGraphFormat = (typeof TASK_GRAPH_FORMATS)[number];

export function drawTaskGraph(graph: TaskGraph, format: TaskGraphFormat): string[] {
  return DRAW[format](graph);
}

const DRAW: Record<TaskGraphFormat, (graph: TaskGraph) => string[]> = {
  text({ tasks, edges }) {
    const shown = tasks.filter((one) => one.state !== undefined);
    const stems = stemsOf(shown.map(({ depth }) => depth));
    const from = grouped(edges.filter(({ step }) => step !== 'asked'));
    const holders = (node: string): string =>
      (from.get(node) ?? []).flatMap(({ to, step }) => (step === 'held' ? to : [])).join(', ');
    return shown.flatMap((one, i) => {
      const { first, rest } = stems[i]!;
      const name = one.depth === 0 ? one.id : shortName(one.id);
      const line = `${first}${MARKS[one.state!]} ${name} ${toText(one.to)} ${flat(one.description)}`.trimEnd();
      const waits = (from.get(one.id) ?? []).map(({ to, step }) => `${rest}⇢ ${waitText(to, step, holders(to))}`);
      const shares = (from.get(budgetNode(one.id)) ?? []).map(
        ({ to, share = {} }) => `${rest}⇠ ${to} holds ${shareText(share)} of its budget`,
      );
      return [line, ...waits, ...shares];
    });
  },
  mermaid({ tasks, nodes, edges }) {
    const ids = new Map([
      ...tasks.map(({ id }, i) => [id, `t${i + 1}`] as const),
      ...nodes.map(({ id }, i) => [id, `n${i + 1}`] as const),
    ]);
    const arrows = {
      asked: '-->',
      waits: '-. waits for .->',
      depends: '== depends on ==>',
      held: '-. held by .->',
    };
    return [
      'graph TD',
      ...tasks.map(({ id, to, state }) => {
        const label = `${id}${to === undefined ? '' : `<br/>${toText(to)}`}`.replaceAll('"', '#quot;');
        return `  ${ids.get(id)}["${label}"]${state === undefined ? '' : `:::${state}`}`;
      }),
      ...nodes.map(({ id, kind, label }) => {
        const [open, close] = SHAPES[kind].mermaid;
        return `  ${ids.get(id)}${open}"${label.replaceAll('"', '#quot;')}"${close}`;
      }),
      ...edges.map(({ from, to, step }) => `  ${ids.get(from)} ${arrows[step]} ${ids.get(to)}`),
      ...Object.entries(FILLS).map(([state, colour]) => `  classDef ${state} fill:${colour}`),
    ];
  },
  dot({ tasks, nodes, edges }) {
    const styles = {
      asked: '',
      waits: ' [label="waits for", style=dashed]',
      depends: ' [label="depends on", style=bold]',
      held: ' [label="held by", style=dotted]',
    };
    return [
      'digraph tasks {',
      '  node [shape=box, style=filled, fillcolor="#ffffff"];',
      ...tasks.map(({ id, to, state }) => {
        const fill = state === undefined ? '' : `, fillcolor="${FILLS[state]}"`;
        return `  ${quoted(id)} [label=${quoted(to === undefined ? id : `${id}\n${toText(to)}`)}${fill}];`;
      }),
      ...nodes.map(({ id, kind, label }) => `  ${quoted(id)} [label=${quoted(label)}, shape=${SHAPES[kind].dot}];`),
      ...edges.map(({ from, to, step }) => `  ${quoted(from)} -> ${quoted(to)}${styles[step]};`),
      '}',
    ];
  },
};

/** For what it waits, and who has that. */
function waitText(to: string, step: TaskStep, holders: string): string {
  if (step === 'depends') return `depends on ${to}`;
  const kind = nodeKind(to);
  const by =
    holders === '' || kind === 'budget' ? '' : kind === 'agent' ? `, at work on ${holders}` : `, held by ${holders}`;
  return `waits for ${nodeText(to)}${by}`;
}

const SHAPES: Record<WaitNode['kind'], { mermaid: [string, string]; dot: string }> = {
  agent: { mermaid: ['([', '])'], dot: 'ellipse' },
  human: { mermaid: ['((', '))'], dot: 'doublecircle' },
  resource: { mermaid: ['[(', ')]'], dot: 'cylinder' },
  conversation: { mermaid: ['[(', ')]'], dot: 'note' },
  budget: { mermaid: ['{{', '}}'], dot: 'hexagon' },
};

const MARKS: Record<TaskState, string> = { pending: '○', active: '●', waiting: '…', completed: '✓', failed: '✗' };
const FILLS: Record<TaskState, string> = {
  pending: '#e0f7fa',
  active: '#fff9c4',
  waiting: '#f3e5f5',
  completed: '#e8f5e9',
  failed: '#ffebee',
};

function grouped(edges: readonly TaskEdge[]): Map<string, TaskEdge[]> {
  const from = new Map<string, TaskEdge[]>();
  for (const edge of edges) {
    const list = from.get(edge.from);
    if (list === undefined) from.set(edge.from, [edge]);
    else list.push(edge);
  }
  return from;
}

/** The last part of a derived id: what stands above says the rest. */
function shortName(id: string): string {
  return id.slice(id.lastIndexOf('.') + 1);
}

/** On one line; whole, because only who prints it knows how wide the window is. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
