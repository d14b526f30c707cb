/**
 * Draws a task with everything under it, as text, Mermaid or DOT: who asked whom, what each task
 * waits for and depends on, and which tasks hold what others wait for.
 */
import { defined } from '../domain/defined.js';
import { isEnded, type Placed, type TaskState } from '../domain/task/task.js';
import { summary } from './summary.js';
import { heldShares, shareText, type Share } from '../rules/budget/shares.js';
import { needed } from '../rules/coordination/agent-states.js';
import { budgetNode, nodeBudget, nodeKind, nodeText, type NodeKind } from '../rules/coordination/wait-node.js';
import { stemsOf } from './tree-lines.js';
import { toText } from './who.js';

/** held: the task has what another waits for, or a share of a budget. */
type TaskStep = 'asked' | 'waits' | 'depends' | 'held';

interface TaskNode {
  id: string;
  kind: 'task';
  role: string;
  to?: string;
  /** Absent for a task of another tree that is only named as a dependency. */
  state?: TaskState;
  description: string;
  /** The distance from the top. */
  depth: number;
}

/** A node that tasks wait for and that is not a task. */
interface WaitNode {
  id: string;
  kind: Exclude<NodeKind, 'task'>;
  label: string;
}

interface TaskEdge {
  from: string;
  to: string;
  step: TaskStep;
  /** Its share of a budget. */
  share?: Share;
}

interface TaskGraph {
  tasks: TaskNode[];
  nodes: WaitNode[];
  edges: TaskEdge[];
}

/**
 * `tree`: the top first, parents before their children, siblings in order. `waitsOf`: the edges of
 * the wait graph; without it only the records are drawn.
 */
export function taskGraph(tree: readonly Placed[], waitsOf: (node: string) => readonly string[] = () => []): TaskGraph {
  const inside = new Map<string, number>();
  const tasks = tree.map(({ task, state }, i): TaskNode => {
    const { id, role, to } = task;
    const depth = i === 0 ? 0 : (inside.get(task.parent ?? '') ?? 0) + 1;
    inside.set(id, depth);
    return defined<TaskNode>({ id, kind: 'task', role, state, description: summary(task), depth, to });
  });
  const resources = resourceEdges(tree, waitsOf);
  const edges = [...tree.flatMap((placed, i) => edgesOf(placed, i === 0)), ...resources];
  const ended = new Set(tree.filter(({ state }) => isEnded(state)).map(({ task }) => task.id));
  const others = [...new Set(edges.map(({ to }) => to))].filter((id) => isTask(id) && !inside.has(id));
  const nodes = [...new Set(resources.flatMap(({ from, to }) => [from, to]))].filter((id) => !isTask(id));
  return {
    tasks: [...tasks, ...others.map((id) => ({ id, kind: 'task' as const, role: 'other', description: '', depth: 0 }))],
    nodes: nodes.map((id) => ({ id, kind: nodeKind(id) as WaitNode['kind'], label: nodeText(id) })),
    // A wait for an ended task is over; a dependency on it is still drawn.
    edges: edges.filter(({ to, step }) => step !== 'waits' || !ended.has(to)),
  };
}

function edgesOf(placed: Placed, isTop: boolean): TaskEdge[] {
  const { task, state } = placed;
  const edges = (to: readonly string[], step: TaskStep): TaskEdge[] =>
    to.map((id) => ({ from: task.id, to: id, step }));
  return [
    ...(task.parent === undefined || isTop ? [] : [{ from: task.parent, to: task.id, step: 'asked' as const }]),
    ...edges(task.dependencies, 'depends'),
    // A wait for a budget is drawn through the budget.
    ...edges(state === 'waiting' && task.waits?.budget === undefined ? needed(placed) : [], 'waits'),
  ];
}

/** Waits for nodes that are not tasks, and the tasks that hold them. */
function resourceEdges(tree: readonly Placed[], waitsOf: (node: string) => readonly string[]): TaskEdge[] {
  const open = tree.filter(({ state }) => !isEnded(state));
  const waits = open.flatMap(({ task }) =>
    waitsOf(task.id)
      .filter((to) => !isTask(to))
      .map((to): TaskEdge => ({ from: task.id, to, step: 'waits' })),
  );
  const resources = [...new Set(waits.map(({ to }) => to))].filter((node) => nodeBudget(node) === undefined);
  const held = resources.flatMap((from) => waitsOf(from).map((to): TaskEdge => ({ from, to, step: 'held' })));
  const byParent = new Map<string, Placed[]>();
  for (const placed of open)
    if (placed.task.parent !== undefined) {
      const children = byParent.get(placed.task.parent);
      if (children === undefined) byParent.set(placed.task.parent, [placed]);
      else children.push(placed);
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
    const shown = tasks.filter(({ state }) => state !== undefined);
    const stems = stemsOf(shown.map(({ depth }) => depth));
    const from = grouped(edges.filter(({ step }) => step !== 'asked'));
    const holders = (node: string): string =>
      (from.get(node) ?? []).flatMap(({ to, step }) => (step === 'held' ? to : [])).join(', ');
    return shown.flatMap((task, i) => {
      const { first, rest } = stems[i]!;
      const name = task.depth === 0 ? task.id : task.id.slice(task.id.lastIndexOf('.') + 1);
      const line = `${first}${MARKS[task.state!]} ${name} ${toText(task.to)} ${flat(task.description)}`.trimEnd();
      const waits = (from.get(task.id) ?? []).map(({ to, step }) => `${rest}⇢ ${waitText(to, step, holders(to))}`);
      const shares = (from.get(budgetNode(task.id)) ?? []).map(
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

/** The node that the task waits for, and its holders. */
function waitText(to: string, step: TaskStep, holders: string): string {
  if (step === 'depends') return `depends on ${to}`;
  const kind = nodeKind(to);
  const by =
    holders === '' || kind === 'budget' ? '' : kind === 'agent' ? `, busy with ${holders}` : `, held by ${holders}`;
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

/** Puts a text on one line. It is not shortened, because only the caller knows the width. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
