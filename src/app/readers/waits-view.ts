/**
 * The wait-for graph for display: the engine's graph, plus the tasks that use up the capacity of an
 * agent.
 */
import { roleFacts } from '../../domain/task/role.js';
import path from 'node:path';
import { disk } from '../../adapters/disk/index.js';
import { waits } from '../../engine/coordination/waits.js';
import type { Store } from '../../ports/store/index.js';
import { agentNode, nodeAgent } from '../../rules/coordination/wait-node.js';
import { roster } from '../../adapters/roster/index.js';

export interface WaitsView {
  /** The nodes that a node waits for now. A task in the result may have ended, or may not exist. */
  waitsOf(node: string): string[];
  /** The number of tasks that an agent works on at once. */
  capacity(agent: string): number;
  /** The labels of the machines that an agent may run on; none: any machine. */
  runsOn(agent: string): readonly string[];
}

/** `store` has been scanned. */
export async function waitsView(folder: string, store: Store): Promise<WaitsView> {
  const agents = roster(disk(), path.resolve(folder));
  agents.refresh();
  const capacity = (agent: string): number => agents.all().get(agent)?.maxConcurrentTasks ?? Infinity;
  const working = new Map<string, string[]>();
  for (const { task, owner, held } of store.tasks.open())
    if (held && owner !== undefined && roleFacts(task.role).takesCapacity)
      working.set(owner.agent, [...(working.get(owner.agent) ?? []), task.id]);
  const fills = (agent: string): string[] => {
    const tasks = working.get(agent) ?? [];
    return tasks.length < capacity(agent) ? [] : tasks;
  };
  const graph = waits({ tasks: store.tasks, locks: store.locks, agents }, fills);
  await graph.look();
  const waitsOf = (node: string): string[] => [...graph.waitsOf(node)];
  // A node does not wait for an agent that has free capacity.
  const hasCapacity = (node: string): boolean => {
    const agent = nodeAgent(node);
    return agent !== undefined && waitsOf(agentNode(agent)).length === 0;
  };
  return {
    waitsOf: (node) => waitsOf(node).filter((to) => !hasCapacity(to)),
    capacity,
    runsOn: (agent) => agents.all().get(agent)?.runsOn ?? [],
  };
}
