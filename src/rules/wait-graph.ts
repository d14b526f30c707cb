/**
 * Who waits for whom, and whether they wait in a circle. The nodes are kept in an order in which everybody stands before whom they wait
 * for (Pearce and Kelly's dynamic topological order), so a new wait that fits the order costs nothing, and any other one only looks at the
 * nodes between its two ends. A wait that would close a circle is not added: the graph never holds one. Searches use a stack of their own:
 * a chain of any length is fine.
 */
export interface WaitGraph {
  /** The circle that this wait closes, from `from` on and without repeating it; undefined: it was added, or was there. */
  addEdge(from: string, to: string): string[] | undefined;
  /** The circle that it would close; changes nothing. */
  wouldClose(from: string, to: string): string[] | undefined;
  removeEdge(from: string, to: string): void;
  /** With every wait to and from it. */
  removeNode(node: string): void;
  has(from: string, to: string): boolean;
  /** For whom it waits. */
  waitsOf(node: string): Iterable<string>;
  /** Who waits for it. */
  waitersOf(node: string): Iterable<string>;
  nodes(): number;
  edges(): number;
}

interface Node {
  name: string;
  /** Its place: smaller than that of everybody it waits for. */
  at: number;
  waits: Set<Node>;
  waiters: Set<Node>;
}

export function waitGraph(): WaitGraph {
  const byName = new Map<string, Node>();
  let first = 0;
  let last = 0;
  let count = 0;

  return {
    addEdge(from, to) {
      if (from === to) return [from];
      // New nodes go where they are in nobody's way: who waits to the front, who is waited for to the back.
      const a = byName.get(from) ?? place(from, --first);
      const b = byName.get(to) ?? place(to, ++last);
      if (a.waits.has(b)) return undefined;
      if (b.at < a.at) {
        const circle = reorder(a, b);
        if (circle !== undefined) return circle;
      }
      a.waits.add(b);
      b.waiters.add(a);
      count++;
      return undefined;
    },
    wouldClose(from, to) {
      if (from === to) return [from];
      const a = byName.get(from);
      const b = byName.get(to);
      if (a === undefined || b === undefined || a.at < b.at) return undefined;
      const { circle } = reach(b, a);
      return circle;
    },
    removeEdge(from, to) {
      const a = byName.get(from);
      const b = byName.get(to);
      if (a === undefined || b === undefined || !a.waits.delete(b)) return;
      b.waiters.delete(a);
      count--;
      drop(a);
      drop(b);
    },
    removeNode(name) {
      const node = byName.get(name);
      if (node === undefined) return;
      count -= node.waits.size + node.waiters.size;
      byName.delete(name);
      for (const next of node.waits) {
        next.waiters.delete(node);
        drop(next);
      }
      for (const before of node.waiters) {
        before.waits.delete(node);
        drop(before);
      }
    },
    has: (from, to) => byName.get(from)?.waits.has(byName.get(to)!) ?? false,
    waitsOf: (name) => names(byName.get(name)?.waits),
    waitersOf: (name) => names(byName.get(name)?.waiters),
    nodes: () => byName.size,
    edges: () => count,
  };

  function place(name: string, at: number): Node {
    const node: Node = { name, at, waits: new Set(), waiters: new Set() };
    byName.set(name, node);
    return node;
  }

  /** Who neither waits nor is waited for need not be remembered. */
  function drop(node: Node): void {
    if (node.waits.size === 0 && node.waiters.size === 0) byName.delete(node.name);
  }

  /** Makes room for `a` to wait for `b`, which stands before it: those between that b leads to go behind those that lead to a. */
  function reorder(a: Node, b: Node): string[] | undefined {
    const { found: after, circle } = reach(b, a);
    if (circle !== undefined) {
      drop(a);
      drop(b);
      return circle;
    }
    const before = reachBack(a, b.at);
    const byPlace = (x: Node, y: Node): number => x.at - y.at;
    const moving = [...before.sort(byPlace), ...after.sort(byPlace)];
    const places = moving.map((node) => node.at).sort((x, y) => x - y);
    for (const [i, node] of moving.entries()) node.at = places[i]!;
    return undefined;
  }
}

/** Everybody that `start` waits for, directly or not, and who stands no later than `goal`; the circle, if goal is among them. */
function reach(start: Node, goal: Node): { found: Node[]; circle?: string[] } {
  const cameFrom = new Map<Node, Node | undefined>([[start, undefined]]);
  const stack = [start];
  while (stack.length > 0) {
    const node = stack.pop()!;
    for (const next of node.waits) {
      if (next === goal) return { found: [], circle: [goal.name, ...trail(node, cameFrom)] };
      if (next.at > goal.at || cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      stack.push(next);
    }
  }
  return { found: [...cameFrom.keys()] };
}

function reachBack(start: Node, least: number): Node[] {
  const found = new Set([start]);
  const stack = [start];
  while (stack.length > 0) {
    for (const next of stack.pop()!.waiters) {
      if (next.at < least || found.has(next)) continue;
      found.add(next);
      stack.push(next);
    }
  }
  return [...found];
}

/** From where the search began to `end`. */
function trail(end: Node, cameFrom: ReadonlyMap<Node, Node | undefined>): string[] {
  const path: string[] = [];
  for (let at: Node | undefined = end; at !== undefined; at = cameFrom.get(at)) path.push(at.name);
  return path.reverse();
}

function names(nodes: ReadonlySet<Node> | undefined): string[] {
  return nodes === undefined ? [] : Array.from(nodes, (node) => node.name);
}
