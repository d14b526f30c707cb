/**
 * The states of an agent and the moves between them. States are derived from the task tree, so an
 * agent may be several moves ahead of its published state; the states in between are then published
 * too. A move that is not in the table is a bug, or was written to the channel by hand.
 */

// Work: idle → working → waiting → complete, with blocked next to working. `complete` is not final:
// the next task makes the agent work again. `error` and `paused` interrupt any state from outside,
// and end in the state that the tree shows then.
export const AGENT_STATES = ['idle', 'working', 'waiting', 'blocked', 'complete', 'error', 'paused'] as const;
export type AgentState = (typeof AGENT_STATES)[number];

const MOVES: Readonly<Record<AgentState, readonly AgentState[]>> = {
  idle: ['working', 'error', 'paused'],
  working: ['waiting', 'blocked', 'error', 'paused'],
  waiting: ['working', 'complete', 'error', 'paused'],
  blocked: ['working', 'error', 'paused'],
  complete: ['working', 'error', 'paused'],
  error: ['idle', 'working', 'waiting', 'complete', 'paused'],
  paused: ['idle', 'working', 'waiting', 'blocked', 'complete', 'error'],
};

export function isMove(from: AgentState, to: AgentState): boolean {
  return MOVES[from].includes(to);
}

/**
 * The states to pass through, ending with `to`; undefined if `to` cannot be reached. No path leads
 * through `error` or `paused`.
 */
export function movesTo(from: AgentState, to: AgentState): AgentState[] | undefined {
  if (from === to) return [];
  if (isMove(from, to)) return [to];
  return WAYS.get(`${from} ${to}`);
}

/** The shortest path between any two states, computed once. */
const WAYS: ReadonlyMap<string, AgentState[]> = new Map(
  AGENT_STATES.flatMap((from) =>
    AGENT_STATES.flatMap((to) => {
      const way = shortest(from, to);
      return way === undefined ? [] : [[`${from} ${to}`, way] as const];
    }),
  ),
);

function shortest(from: AgentState, to: AgentState): AgentState[] | undefined {
  let ways: AgentState[][] = [[from]];
  const seen = new Set<AgentState>([from]);
  while (ways.length > 0) {
    ways = ways.flatMap((way) =>
      MOVES[way.at(-1)!]
        .filter((next) => next === to || (!seen.has(next) && next !== 'error' && next !== 'paused'))
        .map((next) => [...way, next]),
    );
    const path = ways.find((way) => way.at(-1) === to);
    if (path !== undefined) return path.slice(1);
    for (const way of ways) seen.add(way.at(-1)!);
  }
  return undefined;
}
