/**
 * The wait-for graph as people think of it: one task waits for another, because of something that
 * it needs. The program has nodes between the two (the request, its provider, the turn in a
 * conversation, the capacity of an agent); here they become the label of the wait.
 */
import { roleFacts } from '../../../domain/task/role.js';
import { HUMAN, type Task } from '../../../domain/task/task.js';
import { nodeKind } from '../../../rules/coordination/wait-node.js';
import { titleOf } from '../../base/title.js';

interface Link {
  from: string;
  to: string;
  label: string;
  need?: string;
  /** The nodes between the two. */
  via: string[];
}

type TaskOf = (id: string) => Task | undefined;

/** `to`: what each node waits for. Only nodes that people know are ends of a link. */
export function linksOf(to: ReadonlyMap<string, readonly string[]>, taskOf: TaskOf): Link[] {
  const isBetween = (node: string): boolean => (to.get(node)?.length ?? 0) > 0 && isConnector(node, taskOf);
  return [...to.keys()]
    .filter((node) => !isBetween(node))
    .flatMap((from) => ends(from, to, isBetween).map(({ end, via }) => linkOf(from, end, via, taskOf)));
}

function isConnector(node: string, taskOf: TaskOf): boolean {
  const kind = nodeKind(node);
  if (kind === 'conversation' || kind === 'agent') return true;
  const task = taskOf(node);
  if (task === undefined) return false;
  const { need, isProvision } = roleFacts(task.role);
  return need !== undefined || isProvision;
}

function ends(
  from: string,
  to: ReadonlyMap<string, readonly string[]>,
  isBetween: (node: string) => boolean,
): { end: string; via: string[] }[] {
  const found = new Map<string, string[]>();
  const seen = new Set([from]);
  const open = (to.get(from) ?? []).map((node) => ({ node, via: [] as string[] }));
  for (const { node, via } of open) {
    if (!isBetween(node)) {
      if (!found.has(node)) found.set(node, via);
      continue;
    }
    if (seen.has(node)) continue;
    seen.add(node);
    open.push(...(to.get(node) ?? []).map((next) => ({ node: next, via: [...via, node] })));
  }
  return [...found].map(([end, via]) => ({ end, via }));
}

function linkOf(from: string, end: string, via: string[], taskOf: TaskOf): Link {
  const request = via.map(taskOf).find((task) => task !== undefined && roleFacts(task.role).need !== undefined);
  if (request !== undefined)
    return { from, to: end, via, label: `needs ${request.type ?? 'help'}`, need: titleOf(request.description) };
  return { from, to: end, via, label: labelOf(from, end, taskOf) };
}

function labelOf(from: string, end: string, taskOf: TaskOf): string {
  const kind = nodeKind(end);
  if (kind === 'human') return 'waits for you';
  if (kind === 'resource') return 'needs the resource';
  if (nodeKind(from) === 'resource') return 'held by';
  if (kind === 'budget') return 'needs budget';
  if (nodeKind(from) === 'budget') return 'reserved by';
  if (taskOf(end)?.to === HUMAN) return 'asks you';
  return taskOf(end)?.parent === from ? 'part of it' : 'waits for';
}
