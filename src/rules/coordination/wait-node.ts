/**
 * Names of the nodes in the wait graph. A task is named by its id. All other kinds have a prefix
 * that no id can have, so that every kind fits into one graph.
 */
export type NodeKind = 'task' | 'conversation' | 'resource' | 'agent' | 'human' | 'budget';

/** Every open question waits for the person, who waits for nothing. */
export const HUMAN_NODE = '@human';

/** A turn in a shared conversation, or a resource. It waits for the task that has it. */
export function turnNode(key: string): string {
  return `turn:${key}`;
}

export function turnKey(node: string): string | undefined {
  return after('turn:', node);
}

/** The capacity of an agent that works on a limited number of tasks at once. */
export function agentNode(name: string): string {
  return `agent:${name}`;
}

export function nodeAgent(node: string): string | undefined {
  return after('agent:', node);
}

/** The budget of a task. It waits for the children that hold a share of it. */
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

/** The node in words, for people who read a cycle or a chain. */
export function nodeText(node: string): string {
  const key = turnKey(node);
  if (key !== undefined) {
    const resource = resourceOf(key);
    return resource === undefined ? `the conversation ${key}` : `the resource ${resource}`;
  }
  if (node === HUMAN_NODE) return 'you';
  const agent = nodeAgent(node);
  if (agent !== undefined) return `capacity at ${agent}`;
  const budget = nodeBudget(node);
  return budget === undefined ? node : `the budget of ${budget}`;
}

function after(prefix: string, text: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}
