/**
 * The graph of waits. It never holds a cycle: a wait that would close one is refused, and the cycle is named.
 * Each new wait is checked by a search from both of its ends at once. The search stops when one side is
 * exhausted, so a task that nobody waits for, or that waits for nobody, costs nothing to add.
 */
export interface WaitGraph {
  /** The cycle that this wait closes, starting with `from`; undefined if it was added or existed. */
  addEdge(from: string, to: string): string[] | undefined;
  /** The cycle that it would close. Changes nothing. */
  wouldClose(from: string, to: string): string[] | undefined;
  removeEdge(from: string, to: string): void;
  /** Removes every wait to and from the node. */
  removeNode(node: string): void;
  has(from: string, to: string): boolean;
  /** What the node waits for. */
  waitsOf(node: string): Iterable<string>;
  /** What waits for the node. */
  waitersOf(node: string): Iterable<string>;
  nodes(): number;
  edges(): number;
}

interface Node {
  name: string;
  waits: Set<Node>;
  waiters: Set<Node>;
  /** The side of the search that reached it last, and the node it came from. */
  mark: number;
  via: Node | undefined;
}

export function waitGraph(): WaitGraph {
  const byName = new Map<string, Node>();
  let edges = 0;
  let marks = 0;

  return {
    addEdge(from, to) {
      if (from === to) return [from];
      const a = byName.get(from) ?? add(from);
      const b = byName.get(to) ?? add(to);
      if (a.waits.has(b)) return undefined;
      const cycle = cycleOf(a, b);
      if (cycle !== undefined) return cycle;
      a.waits.add(b);
      b.waiters.add(a);
      edges++;
      return undefined;
    },
    wouldClose(from, to) {
      if (from === to) return [from];
      const a = byName.get(from);
      const b = byName.get(to);
      return a === undefined || b === undefined ? undefined : cycleOf(a, b);
    },
    removeEdge(from, to) {
      const a = byName.get(from);
      const b = byName.get(to);
      if (a !== undefined && b !== undefined && a.waits.has(b)) cut(a, b);
    },
    removeNode(name) {
      const node = byName.get(name);
      if (node === undefined) return;
      for (const next of node.waits) cut(node, next);
      for (const before of node.waiters) cut(before, node);
    },
    has: (from, to) => byName.get(from)?.waits.has(byName.get(to)!) ?? false,
    waitsOf: (name) => names(byName.get(name)?.waits),
    waitersOf: (name) => names(byName.get(name)?.waiters),
    nodes: () => byName.size,
    edges: () => edges,
  };

  function add(name: string): Node {
    const node: Node = { name, waits: new Set(), waiters: new Set(), mark: 0, via: undefined };
    byName.set(name, node);
    return node;
  }

  function cut(a: Node, b: Node): void {
    a.waits.delete(b);
    b.waiters.delete(a);
    edges--;
    for (const node of [a, b]) if (node.waits.size === 0 && node.waiters.size === 0) byName.delete(node.name);
  }

  /** A wait of `a` for `b` closes a cycle if `b` leads to `a`. The side that has seen fewer waits goes on. */
  function cycleOf(a: Node, b: Node): string[] | undefined {
    const ahead = side(b);
    const back = side(a);
    for (;;) {
      const [mine, other] = ahead.seen <= back.seen ? [ahead, back] : [back, ahead];
      const node = mine.queue[mine.next++];
      if (node === undefined) return undefined;
      for (const next of mine === ahead ? node.waits : node.waiters) {
        mine.seen++;
        if (next.mark === other.mark) return [a.name, ...(mine === ahead ? join(node, next, a) : join(next, node, a))];
        if (next.mark === mine.mark) continue;
        next.mark = mine.mark;
        next.via = node;
        mine.queue.push(next);
      }
    }
  }

  function side(start: Node): { mark: number; queue: Node[]; next: number; seen: number } {
    start.mark = ++marks;
    start.via = undefined;
    return { mark: marks, queue: [start], next: 0, seen: 0 };
  }
}

/** From where the forward side started to `end`, through the wait at which the two sides met. */
function join(ahead: Node, back: Node, end: Node): string[] {
  return [...trail(ahead).reverse(), ...trail(back, end)];
}

/** The way that a side of the search came, back to its start, or to before `end`. */
function trail(from: Node, end?: Node): string[] {
  const path: string[] = [];
  for (let node: Node | undefined = from; node !== undefined && node !== end; node = node.via) path.push(node.name);
  return path;
}

function names(nodes: ReadonlySet<Node> | undefined): string[] {
  return nodes === undefined ? [] : Array.from(nodes, (node) => node.name);
}
