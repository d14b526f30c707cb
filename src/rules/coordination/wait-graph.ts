/**
 * Who waits for whom, and whether they wait in a circle. Each node has a level, never above that of anybody it waits for, so a wait that
 * leads up costs nothing. Any other looks back among nodes of one level, at no more waits than the root of all there are; if that does not
 * settle it, the one waited for is raised, and with it all lower ones that it leads to. A level is only begun when the one below holds that many waits:
 * there are few, and raising is rare (the sparse search of Bender, Fineman, Gilbert and Tarjan). A full order of all nodes, as Pearce and Kelly
 * keep it, is as quick when waits come as work comes, but looks at much of the graph for each one when they come in no order.
 * A wait that would close a circle is not added: the graph never holds one. Searches use a stack of their own: a chain of any length is fine.
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
  /** Not above that of anybody it waits for. */
  level: number;
  waits: Set<Node>;
  waiters: Set<Node>;
  /** Those of its waiters that stand on its own level. */
  mates: Set<Node>;
  /** The search that came here last, and from where it came. */
  mark: number;
  via: Node | undefined;
}

/** What must be raised, and how high, so that a wait fits; or the circle that it closes. */
interface Fit {
  level: number;
  raised: readonly Node[];
  circle?: string[];
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
      const a = byName.get(from) ?? place(from);
      const b = byName.get(to) ?? place(to);
      if (a.waits.has(b)) return undefined;
      const fitted = fit(a, b);
      if (fitted.circle !== undefined) return fitted.circle;
      raise(fitted);
      a.waits.add(b);
      b.waiters.add(a);
      if (a.level === b.level) b.mates.add(a);
      count++;
      return undefined;
    },
    wouldClose(from, to) {
      if (from === to) return [from];
      const a = byName.get(from);
      const b = byName.get(to);
      return a === undefined || b === undefined ? undefined : fit(a, b).circle;
    },
    removeEdge(from, to) {
      const a = byName.get(from);
      const b = byName.get(to);
      if (a === undefined || b === undefined || !a.waits.has(b)) return;
      cut(a, b);
      settle();
    },
    removeNode(name) {
      const node = byName.get(name);
      if (node === undefined) return;
      for (const next of node.waits) cut(node, next);
      for (const before of node.waiters) cut(before, node);
      settle();
    },
    has: (from, to) => byName.get(from)?.waits.has(byName.get(to)!) ?? false,
    waitsOf: (name) => names(byName.get(name)?.waits),
    waitersOf: (name) => names(byName.get(name)?.waiters),
    nodes: () => byName.size,
    edges: () => count,
  };

  function place(name: string): Node {
    const [waits, waiters, mates] = [new Set<Node>(), new Set<Node>(), new Set<Node>()];
    const node: Node = { name, level: BOTTOM, waits, waiters, mates, mark: 0, via: undefined };
    byName.set(name, node);
    return node;
  }

  function fit(a: Node, b: Node): Fit {
    if (a.level < b.level) return FITS;
    // Who waits for nobody leads nowhere: no circle, and only itself to raise.
    if (b.waits.size === 0) return a.level === b.level ? FITS : { level: a.level, raised: [b] };
    const mark = ++searches;
    const back = lookBack(a, b, mark, Math.sqrt(count));
    if (back === 'met') return { ...FITS, circle: [a.name, ...trail(b, a)] };
    if (back === 'all' && a.level === b.level) return FITS;
    return lookAhead(a, b, back === 'all' ? a.level : a.level + 1, mark, ++searches);
  }

  function raise({ level, raised }: Fit): void {
    for (const node of raised) {
      node.level = level;
      node.mates.clear();
    }
    for (const node of raised) for (const next of node.waits) if (next.level === level) next.mates.add(node);
    if (level > top) top = level;
  }

  function cut(a: Node, b: Node): void {
    a.waits.delete(b);
    b.waiters.delete(a);
    b.mates.delete(a);
    count--;
    removed++;
    forget(a);
    forget(b);
  }

  /** Who neither waits nor is waited for need not be remembered. */
  function forget(node: Node): void {
    if (node.waits.size > 0 || node.waiters.size > 0) return;
    byName.delete(node.name);
    node.via = undefined;
  }

  /**
   * Waits that are gone leave levels behind that those left would not have earned, and raising goes through each of them. All on one level is
   * always right, so now and then it begins anew; the waits that went pay for it.
   */
  function settle(): void {
    if (removed < count || 2 * top <= Math.sqrt(count)) return;
    removed = 0;
    top = BOTTOM;
    for (const node of byName.values()) {
      node.level = BOTTOM;
      for (const before of node.waiters) node.mates.add(before);
    }
  }
}

/** Marks those on a's level that lead to `a`, looking at `most` waits: are these all, is `b` among them, or was it enough? */
function lookBack(a: Node, b: Node, mark: number, most: number): 'all' | 'met' | 'enough' {
  a.mark = mark;
  const stack = [a];
  let looked = 0;
  for (let node = stack.pop(); node !== undefined; node = stack.pop())
    for (const before of node.mates) {
      if (++looked > most) return 'enough';
      if (before.mark === mark) continue;
      before.mark = mark;
      before.via = node;
      if (before === b) return 'met';
      stack.push(before);
    }
  return 'all';
}

/** Those below `level` that `b` leads to, itself among them; the circle, if it leads to one that leads to `a`: these bear the mark `back`. */
function lookAhead(a: Node, b: Node, level: number, back: number, mark: number): Fit {
  b.mark = mark;
  b.via = undefined;
  const raised = [b];
  for (let i = 0; i < raised.length; i++) {
    const node = raised[i]!;
    for (const next of node.waits) {
      if (next.mark === back) return { ...FITS, circle: [a.name, ...trail(node).reverse(), ...trail(next, a)] };
      if (next.level >= level || next.mark === mark) continue;
      next.mark = mark;
      next.via = node;
      raised.push(next);
    }
  }
  return { level, raised };
}

/** The way that a search came, back to where it began, or to before `end`. */
function trail(from: Node, end?: Node): string[] {
  const path: string[] = [];
  for (let node: Node | undefined = from; node !== end && node !== undefined; node = node.via) path.push(node.name);
  return path;
}

function names(nodes: ReadonlySet<Node> | undefined): string[] {
  return nodes === undefined ? [] : Array.from(nodes, (node) => node.name);
}
