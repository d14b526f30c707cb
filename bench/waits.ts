/**
 * One more wait in a graph of 100,000 waits, drawn mostly as work comes and one in twenty between any two; beside it, a search from scratch, as a
 * detector without an order would make.
 */
import { waitGraph } from '../src/rules/wait-graph.js';
import { atMost, median, told, type Bench } from './table.js';

const NODES = 40_000;
const EDGES = 100_000;
/** Beyond this nearly everything hangs together, and without an order each new wait looks at most of it. */
const MESS = 50_000;

export const waits: Bench = {
  name: 'waits',
  async run(bed) {
    let seed = 7;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return Math.floor((seed / 4294967296) * below);
    };
    const near = (from: number): number => Math.max(0, from - 1 - random(200));
    const draw = (): [number, number] => {
      const from = random(NODES);
      return [from, random(20) === 0 ? random(NODES) : near(from)];
    };
    const anyhow = mess(draw);
    const graph = waitGraph();
    const plain = new Map<number, number[]>();
    // As work comes: what is new waits, mostly for what came shortly before, sometimes for anything older.
    for (let n = 0; graph.edges() < EDGES; n++) {
      const from = 1 + Math.min(NODES - 2, Math.floor((n * NODES) / EDGES));
      const to = random(20) === 0 ? random(from) : near(from);
      if (graph.addEdge(`t${from}`, `t${to}`) === undefined) plain.set(from, [...(plain.get(from) ?? []), to]);
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
      told(`… the last of ${MESS} that came in no order at all, on average`, anyhow, 'ms'),
    ];
  },
};

/** How long each of the last tenth took. */
function mess(draw: () => [number, number]): number {
  const graph = waitGraph();
  let start = 0;
  for (let n = 0; n < MESS; n++) {
    if (n === MESS * 0.9) start = performance.now();
    const [from, to] = draw();
    graph.addEdge(`t${from}`, `t${to}`);
  }
  return (performance.now() - start) / (MESS * 0.1);
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
