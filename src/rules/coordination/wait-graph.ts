/**
 * The graph of waits. It is acyclic: a wait that would close a cycle is refused, and the cycle is
 * returned. No node has a higher level than a node that it waits for, so most new waits need no
 * search (Bender, Fineman, Gilbert and Tarjan, sparse case; see ADR 0017 for the cost of simpler
 * searches).
 */
export interface WaitGraph {
  /**
   * The cycle that this wait closes, starting with `from`; undefined if it was added or existed.
   */
  addEdge(from: string, to: string): string[] | undefined;
  /** The cycle that it would close. Changes nothing. */
  wouldClose(from: string, to: string): string[] | undefined;
  removeEdge(from: string, to: string): void;
  nodes(): number;
  edges(): number;
}

interface Node {
  name: string;
  /** At most the level of any node that it waits for. */
  level: number;
  waits: Set<Node>;
  waiters: Set<Node>;
  sameLevel: Set<Node>;
  /** The search that reached it last, and the node it came from. */
  mark: number;
  via: Node | undefined;
}

/** The nodes to raise, and the level they get, so that a wait fits; or the cycle that it closes. */
interface Fit {
  level: number;
  raised: readonly Node[];
  cycle?: string[];
}

const BOTTOM = 1;
const FITS: Fit = { level: BOTTOM, raised: [] };

export function waitGraph(): WaitGraph {
  const byName = new Map<string, Node>();
  let count = 0;
  let top = BOTTOM;
  let removed = 0;
  let searches = 0;

  return {
    addEdge(from, to) {
      if (from === to) return [from];
      const a = byName.get(from) ?? addNode(from);
      const b = byName.get(to) ?? addNode(to);
      if (a.waits.has(b)) return undefined;
      const fitted = fit(a, b);
      if (fitted.cycle !== undefined) return fitted.cycle;
      raise(fitted);
      a.waits.add(b);
      b.waiters.add(a);
      if (a.level === b.level) b.sameLevel.add(a);
      count++;
      return undefined;
    },
    wouldClose(from, to) {
      if (from === to) return [from];
      const a = byName.get(from);
      const b = byName.get(to);
      return a === undefined || b === undefined ? undefined : fit(a, b).cycle;
    },
    removeEdge(from, to) {
      const a = byName.get(from);
      const b = byName.get(to);
      if (a === undefined || b === undefined || !a.waits.has(b)) return;
      cut(a, b);
      resetLevels();
    },
    nodes: () => byName.size,
    edges: () => count,
  };

  function addNode(name: string): Node {
    const [waits, waiters, sameLevel] = [new Set<Node>(), new Set<Node>(), new Set<Node>()];
    const node: Node = { name, level: BOTTOM, waits, waiters, sameLevel, mark: 0, via: undefined };
    byName.set(name, node);
    return node;
  }

  function fit(a: Node, b: Node): Fit {
    if (a.level < b.level) return FITS;
    // A node without waits cannot close a cycle, and raising it raises no other node.
    if (b.waits.size === 0) return a.level === b.level ? FITS : { level: a.level, raised: [b] };
    const mark = ++searches;
    const back = lookBack(a, b, mark, Math.sqrt(count));
    if (back === 'met') return { ...FITS, cycle: [a.name, ...trail(b, a)] };
    if (back === 'complete' && a.level === b.level) return FITS;
    return lookAhead(a, b, back === 'complete' ? a.level : a.level + 1, mark, ++searches);
  }

  function raise({ level, raised }: Fit): void {
    for (const node of raised) {
      node.level = level;
      node.sameLevel.clear();
    }
    for (const node of raised) for (const next of node.waits) if (next.level === level) next.sameLevel.add(node);
    if (level > top) top = level;
  }

  function cut(a: Node, b: Node): void {
    a.waits.delete(b);
    b.waiters.delete(a);
    b.sameLevel.delete(a);
    count--;
    removed++;
    forget(a);
    forget(b);
  }

  /** A node without waits and waiters is not remembered. */
  function forget(node: Node): void {
    if (node.waits.size > 0 || node.waiters.size > 0) return;
    byName.delete(node.name);
    node.via = undefined;
  }

  /**
   * Removed waits leave more levels behind than the remaining waits need, and raising a node goes
   * through each of them. A single level is always valid, so the levels are reset once as many
   * waits were removed as remain.
   */
  function resetLevels(): void {
    if (removed < count || 2 * top <= Math.sqrt(count)) return;
    removed = 0;
    top = BOTTOM;
    for (const node of byName.values()) {
      node.level = BOTTOM;
      for (const before of node.waiters) node.sameLevel.add(before);
    }
  }
}

/** Marks the nodes on a's level that lead to `a`. Stops at `b`, or after `most` waits. */
function lookBack(a: Node, b: Node, mark: number, most: number): 'complete' | 'met' | 'stopped' {
  a.mark = mark;
  const stack = [a];
  let looked = 0;
  for (let node = stack.pop(); node !== undefined; node = stack.pop())
    for (const before of node.sameLevel) {
      if (++looked > most) return 'stopped';
      if (before.mark === mark) continue;
      before.mark = mark;
      before.via = node;
      if (before === b) return 'met';
      stack.push(before);
    }
  return 'complete';
}

/**
 * Collects `b` and all nodes below `level` that can be reached from it; a node with the mark `back`
 * closes a cycle.
 */
function lookAhead(a: Node, b: Node, level: number, back: number, mark: number): Fit {
  b.mark = mark;
  b.via = undefined;
  const raised = [b];
  for (let i = 0; i < raised.length; i++) {
    const node = raised[i]!;
    for (const next of node.waits) {
      if (next.mark === back) return { ...FITS, cycle: [a.name, ...trail(node).reverse(), ...trail(next, a)] };
      if (next.level >= level || next.mark === mark) continue;
      next.mark = mark;
      next.via = node;
      raised.push(next);
    }
  }
  return { level, raised };
}

/** The path of a search, back to its start or to the node before `end`. */
function trail(from: Node, end?: Node): string[] {
  const path: string[] = [];
  for (let node: Node | undefined = from; node !== end && node !== undefined; node = node.via) path.push(node.name);
  return path;
}
