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
  /** For what a node waits now. A task that is named there may have ended, or never have been there. */
  waitsOf(node: string): string[];
  /** How many tasks an agent works on at once. */
  most(agent: string): number;
}

/** `store` has been scanned. */
export async function waitsView(folder: string, store: Store): Promise<WaitsView> {
  const agents = roster(disk(), path.resolve(folder));
  agents.refresh();
  const most = (agent: string): number => agents.all().get(agent)?.maxConcurrentTasks ?? Infinity;
  const working = new Map<string, string[]>();
  for (const { task, owner, held } of store.tasks.open())
    if (held && owner !== undefined && roleFacts(task.role).takesCapacity)
      working.set(owner.agent, [...(working.get(owner.agent) ?? []), task.id]);
  const fills = (agent: string): string[] => {
    const tasks = working.get(agent) ?? [];
    return tasks.length < most(agent) ? [] : tasks;
  };
  const graph = waits({ tasks: store.tasks, locks: store.locks, agents }, fills);
  await graph.look();
  const waitsOf = (node: string): string[] => [...graph.waitsOf(node)];
  // Where there is room nobody waits for it.
  const hasRoom = (node: string): boolean => {
    const agent = nodeAgent(node);
    return agent !== undefined && waitsOf(agentNode(agent)).length === 0;
  };
  return { waitsOf: (node) => waitsOf(node).filter((to) => !hasRoom(to)), most };
}
