/** The states of an agent and the moves between them. States are read off the task tree; a move that is not in the table is a fault of ours. */
export const AGENT_STATES = ['idle', 'working', 'waiting', 'blocked', 'complete', 'error', 'paused'] as const;
export type AgentState = (typeof AGENT_STATES)[number];
