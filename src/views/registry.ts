/**
 * The registry of agents for people and programs: capabilities, state, and the processes that host
 * them.
 */
import type { Agent } from '../domain/agent/agent.js';
import type { AgentState } from '../domain/agent/agent-state.js';
import { compareText } from '../domain/order.js';
import type { Peer } from '../domain/peer.js';

interface RegistryEntry {
  name: string;
  description: string;
  capabilities: string[];
  file: string;
  definition: string;
  /** The processes that host it. */
  live: { peer: string; host: string; pid: number }[];
  state: AgentState;
}

export function registry(
  agents: Iterable<Agent>,
  peers: readonly Peer[],
  stateOf: (agent: string) => AgentState | undefined,
): { agents: RegistryEntry[] } {
  const entries = [...agents].map((agent) => ({
    name: agent.name,
    description: agent.description,
    capabilities: [...agent.capabilities],
    file: agent.file,
    definition: agent.definition,
    live: peers
      .filter((peer) => peer.agents.length === 0 || peer.agents.includes(agent.name))
      .map(({ id, host, pid }) => ({ peer: id, host, pid }))
      .sort((a, b) => compareText(a.peer, b.peer)),
    state: stateOf(agent.name) ?? 'idle',
  }));
  return { agents: entries.sort((a, b) => compareText(a.name, b.name)) };
}
