/**
 * The nodes of the wait-for graph and what they are called. A task is called by its id; the rest has a mark that no id can have, so that names of
 * all kinds stand side by side in one circle, one chain and one picture.
 */
export type NodeKind = 'task' | 'conversation' | 'resource' | 'agent' | 'human' | 'budget';

/** The person: waited for by every open question, and waiting for nobody. */
export const HUMAN_NODE = '@human';

/** A turn in a shared conversation, or a resource: waits for the task that has it. */
export function turnNode(key: string): string {
  return `turn:${key}`;
}

export function turnKey(node: string): string | undefined {
  return after('turn:', node);
}

/** An agent that works on a limited number of tasks at once. */
export function agentNode(name: string): string {
  return `agent:${name}`;
}

export function nodeAgent(node: string): string | undefined {
  return after('agent:', node);
}

/** What a task may spend: waits for the children that hold a share of it. */
export function budgetNode(task: string): string {
  return `budget:${task}`;
}

export function nodeBudget(node: string): string | undefined {
  return after('budget:', node);
}

export function resourceKey(name: string): string {
  return `resource-${name}`;
}

export function resourceOf(key: string): string | undefined {
  return after('resource-', key);
}

export function nodeKind(node: string): NodeKind {
  if (node === HUMAN_NODE) return 'human';
  const key = turnKey(node);
  if (key !== undefined) return resourceOf(key) === undefined ? 'conversation' : 'resource';
  if (nodeAgent(node) !== undefined) return 'agent';
  return nodeBudget(node) === undefined ? 'task' : 'budget';
}

/** In words, for a circle or a chain. */
export function nodeText(node: string): string {
  const key = turnKey(node);
  if (key !== undefined) {
    const resource = resourceOf(key);
    return resource === undefined ? `the conversation ${key}` : `the resource ${resource}`;
  }
  if (node === HUMAN_NODE) return 'you';
  const agent = nodeAgent(node);
  if (agent !== undefined) return `room at ${agent}`;
  const budget = nodeBudget(node);
  return budget === undefined ? node : `the budget of ${budget}`;
}

function after(mark: string, text: string): string | undefined {
  return text.startsWith(mark) ? text.slice(mark.length) : undefined;
}
