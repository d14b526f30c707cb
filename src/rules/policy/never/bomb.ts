/**
 * Detects fork bombs: a function that, directly or through others, starts itself in the background
 * or twice in one pipeline. Plain recursion is allowed.
 */
import type { ShellNode, ShellScript } from '../../../domain/shell.js';

export function forkBomb(script: ShellScript): string | undefined {
  const bodies = new Map<string, ShellNode>();
  let restartsItself = false;
  visit(script.list, (node, background) => {
    if (node.kind === 'function') bodies.set(node.name, node.body);
    if (node.kind === 'pipeline' && node.stages.filter(isItself).length > 1) restartsItself = true;
    if (background && isItself(node)) restartsItself = true;
  });
  if (restartsItself) return BOMB;
  if (bodies.size === 0 || bodies.size > 200) return undefined;
  const calls = new Map([...bodies].map(([name, body]) => [name, callsIn(body, bodies)]));
  for (const [name, body] of bodies) {
    const callers = new Set([...bodies.keys()].filter((other) => reaches(calls, other, name)));
    if (callers.has(name) && forks(body, callers)) return BOMB;
  }
  return undefined;
}

const BOMB = 'it is a fork bomb';

/** The command `$0` or `$FUNCNAME`. */
function isItself(node: ShellNode): boolean {
  return node.kind === 'command' && /^"?\$\{?(0|FUNCNAME(\[0\])?)\}?"?$/.test(node.words[0]?.text ?? '');
}

function forks(body: ShellNode, callers: Set<string>): boolean {
  let multiplies = false;
  visit(body, (node, background) => {
    if (background && callsIn(node, callers).size > 0) multiplies = true;
    if (node.kind === 'pipeline' && node.stages.filter((stage) => callsIn(stage, callers).size > 0).length > 1)
      multiplies = true;
  });
  return multiplies;
}

function callsIn(node: ShellNode, names: { has(name: string): boolean }): Set<string> {
  const calls = new Set<string>();
  visit(node, (inner) => {
    const name = inner.kind === 'command' ? inner.words[0]?.value : undefined;
    if (name !== undefined && names.has(name)) calls.add(name);
  });
  return calls;
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
