/**
 * Adding a wait to a graph of 100,000 waits: in creation order, where a task mostly waits for
 * recent tasks, and shuffled. Each figure covers the last 1,000 waits. The baseline is a full
 * search, as a detector without a maintained graph would do it.
 */
import { waitGraph, type WaitGraph } from '../../src/rules/coordination/wait-graph.js';
import { atMost, median, figure, type Bench, type Row } from '../harness/rows.js';

const NODES = 40_000;
const EDGES = 100_000;
const LAST = 1000;

type Wait = [from: number, to: number];

export const waits: Bench = {
  name: 'waits',
  async run(testbed) {
    const random = seeded(7);
    const drawn = drawWaits(random);
    const inOrder = buildGraph(drawn);
    const unordered = buildGraph(shuffled(drawn, random));
    const plain = new Map<number, number[]>();
    for (const [from, to] of drawn) plain.set(from, [...(plain.get(from) ?? []), to]);
    const [fullSearches, queries]: [number[], number[]] = [[], []];
    for (let round = 0; round < testbed.scale(LAST); round++) {
      const [from, to] = [random(NODES), random(NODES)];
      queries.push(timed(() => unordered.graph.wouldClose(`t${from}`, `t${to}`)));
      if (round % 50 === 0) fullSearches.push(timed(() => reaches(plain, to, from)));
    }
    return [
      ...rows(`one more wait among ${EDGES}, in the order of work`, inOrder.took),
      ...rows(`one more wait among ${EDGES}, shuffled`, unordered.took),
      ...rows('would a wait between any two close a cycle', queries),
      figure('… a full search', median(fullSearches), 'ms'),
    ];
  },
};

function rows(name: string, took: readonly number[]): Row[] {
  const sorted = [...took].sort((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)]!;
  return [atMost(name, median(took), 'ms', 1), figure('… 99 of 100 within', p99, 'ms')];
}

/** Distinct waits without a cycle: each task waits only for earlier ones. */
function drawWaits(random: (below: number) => number): Wait[] {
  const drawn = new Map<string, Wait>();
  for (let n = 0; drawn.size < EDGES; n++) {
    const from = 1 + (Math.floor((n * NODES) / EDGES) % (NODES - 1));
    const to = random(20) === 0 ? random(from) : Math.max(0, from - 1 - random(200));
    drawn.set(`${from} ${to}`, [from, to]);
  }
  return [...drawn.values()];
}

function buildGraph(waits: readonly Wait[]): { graph: WaitGraph; took: number[] } {
  const graph = waitGraph();
  const took = waits.map(([from, to]) => {
    const [a, b] = [`t${from}`, `t${to}`];
    return timed(() => graph.addEdge(a, b) === undefined || fail());
  });
  if (graph.edges() !== EDGES) fail();
  return { graph, took: took.slice(-LAST) };
}

function fail(): never {
  throw new Error('the graph reported a cycle that does not exist, or missed one');
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function reaches(plain: ReadonlyMap<number, number[]>, start: number, goal: number): boolean {
  const seen = new Set<number>();
  const stack = [start];
  while (stack.length > 0) {
    const at = stack.pop()!;
    if (at === goal) return true;
    if (seen.has(at)) continue;
    seen.add(at);
    stack.push(...(plain.get(at) ?? []));
  }
  return false;
}

function shuffled(waits: readonly Wait[], random: (below: number) => number): Wait[] {
  const all = [...waits];
  for (let i = all.length - 1; i > 0; i--) {
    const j = random(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * below);
  };
}
