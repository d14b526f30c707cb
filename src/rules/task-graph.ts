/** A task and all under it as a picture: who was asked by whom, who waits for whom, what depends on what; as text, Mermaid or DOT. */
import { isEnded, type Placed, type TaskState } from '../domain/task.js';
import { gist } from './gist.js';
import { needed } from './peers.js';

export type TaskStep = 'asked' | 'waits' | 'depends';

export interface TaskNode {
  id: string;
  role: string;
  to?: string;
  /** Absent: it is only named, by something that depends on it from another tree. */
  state?: TaskState;
  description: string;
  /** How far below the top. */
  depth: number;
}

export interface TaskEdge {
  from: string;
  to: string;
  step: TaskStep;
}

export interface TaskGraph {
  tasks: TaskNode[];
  edges: TaskEdge[];
}

/** `tree`: the top first, parents before their children, children of one parent in order. */
export function taskGraph(tree: readonly Placed[]): TaskGraph {
  const inside = new Map<string, number>();
  const tasks = tree.map(({ task, state }, i): TaskNode => {
    const { id, role, to } = task;
    const depth = i === 0 ? 0 : (inside.get(task.parent ?? '') ?? 0) + 1;
    inside.set(id, depth);
    return { id, role, state, description: gist(task), depth, ...(to === undefined ? {} : { to }) };
  });
  const edges = tree.flatMap((one, i) => edgesOf(one, i === 0));
  const ended = new Set(tree.filter(({ state }) => isEnded(state)).map(({ task }) => task.id));
  const others = [...new Set(edges.map(({ to }) => to))].filter((id) => !inside.has(id));
  return {
    tasks: [...tasks, ...others.map((id) => ({ id, role: 'other', description: '', depth: 0 }))],
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
    ...step(state === 'waiting' ? needed(one) : [], 'waits'),
  ];
}

export const TASK_GRAPH_FORMATS = ['text', 'mermaid', 'dot'] as const;
export type TaskGraphFormat = (typeof TASK_GRAPH_FORMATS)[number];

export function drawTaskGraph(graph: TaskGraph, format: TaskGraphFormat): string[] {
  return DRAW[format](graph);
}

const DRAW: Record<TaskGraphFormat, (graph: TaskGraph) => string[]> = {
  text({ tasks, edges }) {
    const shown = tasks.filter((one) => one.state !== undefined);
    const stems = stemsOf(shown);
    const from = grouped(edges.filter(({ step }) => step !== 'asked'));
    return shown.flatMap((one, i) => {
      const { first, rest } = stems[i]!;
      const name = one.depth === 0 ? one.id : shortName(one.id);
      const line = `${first}${MARKS[one.state!]} ${name} @${one.to ?? '?'} ${flat(one.description)}`.trimEnd();
      const words = { waits: 'waits for', depends: 'depends on', asked: '' };
      return [line, ...(from.get(one.id) ?? []).map(({ to, step }) => `${rest}⇢ ${words[step]} ${to}`)];
    });
  },
  mermaid({ tasks, edges }) {
    const ids = new Map(tasks.map(({ id }, i) => [id, `t${i + 1}`]));
    const arrows = { asked: '-->', waits: '-. waits for .->', depends: '== depends on ==>' };
    return [
      'graph TD',
      ...tasks.map(({ id, to, state }) => {
        const label = `${id}${to === undefined ? '' : `<br/>@${to}`}`.replaceAll('"', '#quot;');
        return `  ${ids.get(id)}["${label}"]${state === undefined ? '' : `:::${state}`}`;
      }),
      ...edges.map(({ from, to, step }) => `  ${ids.get(from)} ${arrows[step]} ${ids.get(to)}`),
      ...Object.entries(FILLS).map(([state, colour]) => `  classDef ${state} fill:${colour}`),
    ];
  },
  dot({ tasks, edges }) {
    const styles = {
      asked: '',
      waits: ' [label="waits for", style=dashed]',
      depends: ' [label="depends on", style=bold]',
    };
    return [
      'digraph tasks {',
      '  node [shape=box, style=filled, fillcolor="#ffffff"];',
      ...tasks.map(({ id, to, state }) => {
        const fill = state === undefined ? '' : `, fillcolor="${FILLS[state]}"`;
        return `  ${quoted(id)} [label=${quoted(to === undefined ? id : `${id}\n@${to}`)}${fill}];`;
      }),
      ...edges.map(({ from, to, step }) => `  ${quoted(from)} -> ${quoted(to)}${styles[step]};`),
      '}',
    ];
  },
};

const MARKS: Record<TaskState, string> = { pending: '○', active: '●', waiting: '…', completed: '✓', failed: '✗' };
const FILLS: Record<TaskState, string> = {
  pending: '#e0f7fa',
  active: '#fff9c4',
  waiting: '#f3e5f5',
  completed: '#e8f5e9',
  failed: '#ffebee',
};

/** What stands before each line of a tree: `├─` where more follow under the same parent. Walked backwards, so each is looked at once. */
function stemsOf(tasks: readonly TaskNode[]): { first: string; rest: string }[] {
  const goesOn: boolean[] = [];
  const stems = tasks.map(() => ({ first: '', rest: '   ' }));
  for (let i = tasks.length - 1; i >= 0; i--) {
    const { depth } = tasks[i]!;
    goesOn.length = depth + 1;
    const above = Array.from({ length: Math.max(0, depth - 1) }, (_, d) => (goesOn[d + 1] ? '│  ' : '   ')).join('');
    const hasChildren = tasks[i + 1] !== undefined && tasks[i + 1]!.depth > depth;
    const under = hasChildren ? '│  ' : '   ';
    stems[i] =
      depth === 0
        ? { first: '', rest: under }
        : {
            first: `${above}${goesOn[depth] ? '├─ ' : '└─ '}`,
            rest: `${above}${goesOn[depth] ? '│  ' : '   '}${under}`,
          };
    goesOn[depth] = true;
  }
  return stems;
}

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
