/** What each agent is doing, read off the open tasks. Nothing of it is stored. */
import { HUMAN, type OpenState, type Placed } from '../domain/task.js';

export type AgentState = 'idle' | 'working' | 'waiting' | 'blocked';

export interface AgentDoing {
  agent: string;
  state: AgentState;
  /** Tasks that make it so. */
  tasks: string[];
  why: string;
}

/**
 * Working beats waiting beats blocked: the most active of an agent's tasks names its state. What a process holds that is `alive` no
 * more is blocked, until somebody takes it over.
 */
export function agentStates(
  agents: readonly string[],
  open: readonly (Placed & { state: OpenState })[],
  alive: (peer: string) => boolean = () => true,
): AgentDoing[] {
  const isOpen = new Set(open.map((one) => one.task.id));
  const mine = new Map<string, (Placed & { state: OpenState })[]>();
  for (const one of open) {
    const who = one.task.to;
    if (who !== undefined) mine.set(who, [...(mine.get(who) ?? []), one]);
  }
  const names = [...new Set([...agents, ...mine.keys()])].filter((name) => name !== HUMAN).sort();
  const all = names.map((agent) => doing(agent, mine.get(agent) ?? [], isOpen, alive));
  const forHuman = mine.get(HUMAN);
  return forHuman
    ? [...all, { agent: HUMAN, state: 'blocked', tasks: ids(forHuman), why: 'waits for your answer' }]
    : all;
}

function doing(
  agent: string,
  tasks: (Placed & { state: OpenState })[],
  isOpen: ReadonlySet<string>,
  alive: (peer: string) => boolean,
): AgentDoing {
  const held = tasks.filter((one) => one.state === 'active');
  const active = held.filter((one) => one.owner === undefined || alive(one.owner.peer));
  if (active.length > 0) return { agent, state: 'working', tasks: ids(active), why: first(active) };
  const waiting = tasks.filter((one) => one.state === 'waiting');
  if (waiting.length > 0) {
    const on = waiting.flatMap((one) => one.task.waits?.tasks ?? []).filter((id) => isOpen.has(id));
    return { agent, state: 'waiting', tasks: ids(waiting), why: on.length > 0 ? `for ${on.join(', ')}` : 'can go on' };
  }
  if (held.length > 0)
    return { agent, state: 'blocked', tasks: ids(held), why: 'its process is gone; guild pump or guild watch goes on' };
  const blocked = tasks.filter((one) => one.task.dependencies.some((id) => isOpen.has(id)));
  if (blocked.length > 0)
    return {
      agent,
      state: 'blocked',
      tasks: ids(blocked),
      why: `depends on ${blocked[0]!.task.dependencies.join(', ')}`,
    };
  return { agent, state: 'idle', tasks: ids(tasks), why: tasks.length > 0 ? `${tasks.length} to take` : '' };
}

function ids(tasks: readonly Placed[]): string[] {
  return tasks.map((one) => one.task.id);
}

function first(tasks: readonly Placed[]): string {
  return tasks[0]!.task.description;
}
