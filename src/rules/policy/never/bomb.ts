/**
 * Fork bombs: a function that, directly or through others, starts itself in the background or twice in one pipeline. The
 * name does not matter. Plain recursion is none.
 */
import type { ShellNode, ShellScript } from '../../../domain/shell.js';

export function forkBomb(script: ShellScript): string | undefined {
  const bodies = new Map<string, ShellNode>();
  let again = false;
  visit(script.list, (node, background) => {
    if (node.kind === 'function') bodies.set(node.name, node.body);
    if (node.kind === 'pipeline' && node.stages.filter(isItself).length > 1) again = true;
    if (background && isItself(node)) again = true;
  });
  if (again) return BOMB;
  if (bodies.size === 0 || bodies.size > 200) return undefined;
  const calls = new Map([...bodies].map(([name, body]) => [name, callsIn(body, bodies)]));
  for (const [name, body] of bodies) {
    const circle = new Set([...bodies.keys()].filter((other) => reaches(calls, other, name)));
    if (circle.has(name) && forks(body, circle)) return BOMB;
  }
  return undefined;
}

const BOMB = 'it is a fork bomb';

/** `$0` or `$FUNCNAME` run again. */
function isItself(node: ShellNode): boolean {
  return node.kind === 'command' && /^"?\$\{?(0|FUNCNAME(\[0\])?)\}?"?$/.test(node.words[0]?.text ?? '');
}

function forks(body: ShellNode, circle: Set<string>): boolean {
  let found = false;
  visit(body, (node, background) => {
    if (background && callsIn(node, circle).size > 0) found = true;
    if (node.kind === 'pipeline' && node.stages.filter((stage) => callsIn(stage, circle).size > 0).length > 1)
      found = true;
  });
  return found;
}

function callsIn(node: ShellNode, names: { has(name: string): boolean }): Set<string> {
  const found = new Set<string>();
  visit(node, (inner) => {
    const name = inner.kind === 'command' ? inner.words[0]?.value : undefined;
    if (name !== undefined && names.has(name)) found.add(name);
  });
  return found;
}

function reaches(calls: Map<string, Set<string>>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const next of calls.get(name) ?? []) {
      if (next === to) return true;
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return false;
}

function visit(node: ShellNode, see: (node: ShellNode, background: boolean) => void, background = false): void {
  see(node, background);
  if (node.kind === 'list') for (const item of node.items) visit(item.node, see, item.then === '&');
  else if (node.kind === 'pipeline') for (const stage of node.stages) visit(stage, see);
  else if (node.kind === 'block') for (const body of node.bodies) visit(body, see, node.how === 'coproc');
  else if (node.kind === 'function') visit(node.body, see);
}
