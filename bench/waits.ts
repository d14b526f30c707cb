/** One more wait in a graph of 100,000 waits; beside it, a search from scratch, as a detector without an order would make. */
import { waitGraph } from '../src/rules/wait-graph.js';
import { atMost, median, told, type Bench } from './table.js';

const NODES = 40_000;
const EDGES = 100_000;

export const waits: Bench = {
  name: 'waits',
  async run(bed) {
    let seed = 7;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return Math.floor((seed / 4294967296) * below);
    };
    const graph = waitGraph();
    const plain = new Map<number, number[]>();
    // As work comes: mostly on what is near and older, sometimes on anything; an edge that closes a circle is refused.
    const draw = (): [number, number] => {
      const from = random(NODES);
      const to = random(20) === 0 ? random(NODES) : Math.max(0, from - 1 - random(200));
      return [from, to];
    };
    while (graph.edges() < EDGES) {
      const [from, to] = draw();
      if (from !== to && graph.addEdge(`t${from}`, `t${to}`) === undefined)
        plain.set(from, [...(plain.get(from) ?? []), to]);
    }
    const ours: number[] = [];
    const scratch: number[] = [];
    for (let round = 0; round < bed.rounds(2000); round++) {
      const [from, to] = draw();
      const start = performance.now();
      const closed = graph.addEdge(`t${from}`, `t${to}`);
      ours.push(performance.now() - start);
      if (closed === undefined && from !== to) graph.removeEdge(`t${from}`, `t${to}`);
      if (round % 100 !== 0) continue;
      const before = performance.now();
      reaches(plain, to, from);
      scratch.push(performance.now() - before);
    }
    ours.sort((a, b) => a - b);
    return [
      atMost(`one more wait among ${EDGES}`, median(ours), 'ms', 1),
      told('… 99 of 100 within', ours[Math.floor(ours.length * 0.99)]!, 'ms'),
      told('… a search from scratch', median(scratch), 'ms'),
    ];
  },
};

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
